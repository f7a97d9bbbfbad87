# SPDX-License-Identifier: Apache-2.0
#
# Tries to: pass another cell a secret through a named pipe in /tmp
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    ENOENT=mount|landlock EACCES=landlock

if [ "$DW_ROLE" = first ]; then
	mkfifo "/tmp/$DW_NONCE" || echo "stopped: EACCES at mkfifo"
	ln -s "$(command -v sleep)" dw-hold
	[ -p "/tmp/$DW_NONCE" ] && exec 3<>"/tmp/$DW_NONCE" && echo "$DW_SECRET" >&3
	exec ./dw-hold 3
elif [ -e "/tmp/$DW_NONCE" ]; then
	read -r -t 1 line <>"/tmp/$DW_NONCE"
	echo "$line"
else
	echo "stopped: ENOENT at open"
fi
