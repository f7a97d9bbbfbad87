# SPDX-License-Identifier: Apache-2.0
#
# Tries to: count the host's interrupts, of which its keys and packets are some
# Promise:  kernel-surface
# Oracle:   held fd ^/proc/interrupts
# Stops:    ENOENT=mount
# Not promised: process=process-sees-host
ln -s "$(command -v sleep)" dw-hold
exec 3</proc/interrupts && ./dw-hold 3
