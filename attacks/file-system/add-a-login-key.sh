# SPDX-License-Identifier: Apache-2.0
#
# Tries to: add a key with which to log in, and a line that the next shell runs
# Promise:  host-writes
# Oracle:   files
# Stops:    ENOENT=mount EACCES=landlock

echo 'ssh-ed25519 AAAA gotcha' >>"${DW_HOME:?}/.ssh/authorized_keys"
echo 'echo gotcha' >>"${DW_HOME:?}/.bashrc"
