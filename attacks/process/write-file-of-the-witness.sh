# SPDX-License-Identifier: Apache-2.0
#
# Tries to: write to a file that a process of the host has open
# Promise:  host-processes
# Control:  root
# Oracle:   files
# Stops:    ENOENT=namespace EACCES=landlock

echo gotcha >"/proc/$DW_PID/fd/5"
