# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read a file of the host through the root and the working folder of a process
#           of the host
# Promise:  host-files
# Oracle:   secret
# Stops:    ENOENT=namespace EACCES=landlock
# Because:  at level process of root, the missing CAP_SYS_PTRACE is checked before Landlock

cat "/proc/$DW_PID/root$DW_FLAG"
cat "/proc/$DW_PID/cwd/../../../../../../$DW_FLAG"
