# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open the tree of the host's cgroups
# Promise:  kernel-surface
# Oracle:   held fd ^/sys/fs/cgroup
# Stops:    ENOENT=mount EACCES=landlock
ln -s "$(command -v sleep)" dw-hold
exec 3</sys/fs/cgroup && ./dw-hold 60
