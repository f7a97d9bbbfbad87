# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the environment of another cell's processes in /proc
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    unseen=namespace EACCES=landlock
# Because:  "unseen" is what it says if /proc shows no process of that name

if [ "$DW_ROLE" = first ]; then
	ln -s "$(command -v sleep)" dw-hold
	exec ./dw-hold 3
fi
found=$(grep -lx dw-hold /proc/[0-9]*/comm 2>/dev/null | head -n 1)
if [ -z "$found" ]; then
	echo "stopped: unseen at /proc"
else
	tr '\0' '\n' <"${found%comm}environ" | grep DW_SECRET
fi
