# SPDX-License-Identifier: Apache-2.0
#
# Tries to: walk into the host through the root folder of one of its processes
# Promise:  host-processes
# Control:  root
# Oracle:   secret
# Stops:    ENOENT=namespace EACCES=landlock

cat "/proc/$DW_PID/root$DW_FLAG"
