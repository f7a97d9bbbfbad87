# SPDX-License-Identifier: Apache-2.0
#
# Tries to: count the host's interrupts, of which its keys and packets are some
# Promise:  kernel-surface
# Oracle:   held fd ^/proc/interrupts
# Stops:    ENOENT=mount empty=mount
# Not promised: process=process-sees-host
ln -s "$(command -v sleep)" dw-hold
exec 3</proc/interrupts || exit
if read -r <&3; then
	./dw-hold 60
else
	echo "stopped: empty at /proc/interrupts"
fi
