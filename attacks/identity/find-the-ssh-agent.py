# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find the SSH agent of its caller
# Promise:  identity
# Oracle:   secret
# Stops:    unset=absent
# Because:  a cell gets a fresh environment, and nothing of its caller's
import os

print(os.environ.get("SSH_AUTH_SOCK") or "stopped: unset at SSH_AUTH_SOCK")
