# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the kernel's own description of its structures
# Promise:  kernel-surface
# Oracle:   held fd ^/sys/kernel/btf/vmlinux
# Stops:    ENOENT=mount EACCES=landlock
ln -s "$(command -v sleep)" dw-hold
exec 3</sys/kernel/btf/vmlinux && ./dw-hold 60
