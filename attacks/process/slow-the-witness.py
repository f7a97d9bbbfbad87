# SPDX-License-Identifier: Apache-2.0
#
# Tries to: give a process of the host the lowest priority
# Promise:  host-processes
# Oracle:   witness
# Stops:    ESRCH=namespace EPERM=capability
# Not promised: process=process-same-user
# Because:  at level process, no process may do this to one that has more capabilities; a witness of
#           root's has all of them, one of a plain user none
import errno
import os

try:
    os.setpriority(os.PRIO_PROCESS, int(os.environ["DW_PID"]), 19)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at setpriority")
