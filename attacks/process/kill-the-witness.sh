# SPDX-License-Identifier: Apache-2.0
#
# Tries to: end a process of the host, as a shell would
# Promise:  host-processes
# Oracle:   witness
# Stops:    ESRCH=namespace EPERM=landlock
# Not promised: landlock6:process=process-old-landlock

kill -KILL "$DW_PID"
