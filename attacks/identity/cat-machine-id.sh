# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the number that this host has for life
# Promise:  identity
# Oracle:   secret
# Stops:    ENOENT=mount EACCES=landlock

cat /etc/machine-id
