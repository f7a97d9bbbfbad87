# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read where in memory the kernel has its functions
# Promise:  kernel-surface
# Oracle:   held fd ^/proc/kallsyms
# Stops:    ENOENT=mount empty=mount
# Not promised: process=process-sees-host
ln -s "$(command -v sleep)" dw-hold
exec 3</proc/kallsyms || exit
if read -r <&3; then
	./dw-hold 60
else
	echo "stopped: empty at /proc/kallsyms"
fi
