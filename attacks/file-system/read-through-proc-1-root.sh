# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read a file of the host through the root of process 1
# Promise:  host-files
# Control:  root
# Oracle:   secret
# Stops:    EACCES=capability
# Because:  process 1 is the cell's own init, which other processes cannot inspect; on
#           the host it takes CAP_SYS_PTRACE

cat "/proc/1/root$DW_FLAG"
cat "/proc/1/cwd/../../../../$DW_FLAG"
