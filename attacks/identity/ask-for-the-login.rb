# SPDX-License-Identifier: Apache-2.0
#
# Tries to: learn the name of its caller
# Promise:  identity
# Oracle:   secret
# Stops:    unset=absent
# Because:  a cell gets a fresh environment, and nothing of its caller's
puts ENV['LOGNAME'] || 'stopped: unset at LOGNAME'
