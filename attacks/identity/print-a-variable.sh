# SPDX-License-Identifier: Apache-2.0
#
# Tries to: print a variable of its caller's environment
# Promise:  identity
# Oracle:   secret
# Stops:    unset=absent
# Because:  a cell gets a fresh environment, and nothing of its caller's

printenv HOST_SECRET || echo "stopped: unset at HOST_SECRET"
