# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open what a process of the host has open, by its /proc/PID/fd
# Promise:  host-files
# Oracle:   secret
# Stops:    ENOENT=namespace EACCES=landlock
# Because:  at level process of root, the missing CAP_SYS_PTRACE is checked before Landlock
import errno
import os

try:
    print(open("/proc/%s/fd/5" % os.environ["DW_PID"]).read())
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at open")
