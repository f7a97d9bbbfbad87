# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the file with the host's name
# Promise:  identity
# Oracle:   secret
# Stops:    ENOENT=mount EACCES=landlock

cat /etc/hostname
