# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the environment of its caller, and of every other process
# Promise:  identity
# Oracle:   secret
# Stops:    EACCES=landlock
import errno
import os

own = {str(os.getpid()), os.environ["DW_PID"]}
for pid in [n for n in os.listdir("/proc") if n.isdigit() and n not in own]:
    try:
        with open("/proc/%s/environ" % pid, encoding="latin-1") as file:
            print(pid, file.read().replace("\0", " "))
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at environ of", pid)
