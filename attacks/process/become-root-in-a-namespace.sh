# SPDX-License-Identifier: Apache-2.0
#
# Tries to: become root in a user namespace, as rootless containers do
# Promise:  privileges
# Oracle:   held uid_map ^ +0 +[0-9]+ +1$
# Stops:    EPERM=seccomp

ln -s "$(command -v sleep)" dw-hold
unshare --user --map-root-user ./dw-hold 60
