# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the file with the host's name
# Promise:  identity
# Oracle:   secret
# Stops:    ENOENT=mount EACCES=landlock own=namespace

cat /etc/hostname
[ "$(cat /etc/hostname 2>/dev/null)" != dewar ] || echo "stopped: own at /etc/hostname"
