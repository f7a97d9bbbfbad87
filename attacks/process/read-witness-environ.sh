# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the environment of a process of the host
# Promise:  host-processes
# Control:  root
# Oracle:   secret
# Stops:    ENOENT=namespace EACCES=landlock

tr '\0' '\n' <"/proc/$DW_PID/environ"
