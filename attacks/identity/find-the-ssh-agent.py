# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find the SSH agent of its caller
# Promise:  identity
# Oracle:   secret
# Stops:    unset=absent
# Because:  a cell gets a new environment without its caller's variables
import os

print(os.environ.get("SSH_AUTH_SOCK") or "stopped: unset at SSH_AUTH_SOCK")
