# SPDX-License-Identifier: Apache-2.0
#
# Tries to: learn the name of its caller
# Promise:  identity
# Oracle:   secret
# Stops:    unset=absent
# Because:  a cell gets a new environment without its caller's variables
puts ENV['LOGNAME'] || 'stopped: unset at LOGNAME'
