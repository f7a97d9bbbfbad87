# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have a process of the host killed first when memory runs out
# Promise:  host-processes
# Oracle:   witness
# Stops:    ENOENT=namespace EACCES=landlock

echo 900 >"/proc/$DW_PID/oom_score_adj"
