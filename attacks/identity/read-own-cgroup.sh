# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the names of the cgroups that its caller is in
# Promise:  identity
# Oracle:   secret
# Stops:    root=namespace
# Not promised: process=process-sees-host docker=docker-cgroup-name
# Because:  in a cgroup namespace of its own a cell sees itself at the root; only root can
#           put its caller into a group with a name that gives it away

cat /proc/self/cgroup
grep -qv ':/$' /proc/self/cgroup || echo "stopped: root at /proc/self/cgroup"
