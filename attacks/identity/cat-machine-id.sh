# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the machine id of the host
# Promise:  identity
# Oracle:   secret
# Stops:    ENOENT=mount EACCES=landlock

cat /etc/machine-id
