# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the memory of a process of the host through /proc/PID/mem
# Promise:  host-processes
# Control:  root
# Oracle:   secret
# Stops:    ENOENT=namespace EACCES=landlock
import errno
import os

try:
    with open("/proc/%s/mem" % os.environ["DW_PID"], "rb", 0) as mem:
        mem.seek(int(os.environ["DW_ADDRESS"], 16))
        print(mem.read(32).decode("latin-1"))
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at /proc/PID/mem")
