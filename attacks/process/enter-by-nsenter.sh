# SPDX-License-Identifier: Apache-2.0
#
# Tries to: enter the mounts of a process of the host with the usual tool
# Promise:  host-processes
# Control:  root
# Oracle:   secret
# Stops:    ENOENT=namespace EACCES=landlock

nsenter --target "$DW_PID" --mount cat "$DW_FLAG"
