# SPDX-License-Identifier: Apache-2.0
#
# Tries to: print a variable of its caller's environment
# Promise:  identity
# Oracle:   secret
# Stops:    unset=absent
# Because:  a cell gets a new environment without its caller's variables

printenv HOST_SECRET || echo "stopped: unset at HOST_SECRET"
