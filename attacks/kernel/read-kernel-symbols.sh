# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read where in memory the kernel has its functions
# Promise:  kernel-surface
# Oracle:   held fd ^/proc/kallsyms
# Stops:    ENOENT=mount
# Not promised: process=process-sees-host
ln -s "$(command -v sleep)" dw-hold
exec 3</proc/kallsyms && ./dw-hold 3
