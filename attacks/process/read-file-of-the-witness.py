# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read a file that a process of the host has open
# Promise:  host-processes
# Control:  root
# Oracle:   secret
# Stops:    ENOENT=namespace EACCES=landlock
import errno
import os

try:
    with open("/proc/%s/fd/5" % os.environ["DW_PID"], encoding="utf-8") as file:
        print(file.read())
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at /proc/PID/fd/5")
