# SPDX-License-Identifier: Apache-2.0
#
# Tries to: make a file in a folder of the host
# Promise:  host-writes
# Oracle:   files
# Stops:    ENOENT=mount EACCES=landlock

echo gotcha >"$DW_BASE/home/$DW_NONCE"
