# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read ELF notes of the kernel, which have leaked its addresses before
# Promise:  kernel-surface
# Oracle:   held fd ^/sys/kernel/notes
# Stops:    ENOENT=mount EACCES=landlock
ln -s "$(command -v sleep)" dw-hold
exec 3</sys/kernel/notes && ./dw-hold 60
