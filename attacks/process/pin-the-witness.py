# SPDX-License-Identifier: Apache-2.0
#
# Tries to: keep a process of the host on one core
# Promise:  host-processes
# Oracle:   witness
# Stops:    ESRCH=namespace EPERM=capability
# Not promised: process=process-same-user
# Because:  a host with one core has nothing to show here
import errno
import os

try:
    pid = int(os.environ["DW_PID"])
    os.sched_setaffinity(pid, {max(os.sched_getaffinity(pid))})
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at sched_setaffinity")
