# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a ~/.bashrc that runs in the next cell's shell
# Promise:  neighbours
# Cells:    after
# Oracle:   secret
# Stops:    ENOENT=mount|supervisor
# Because:  each cell has a home of its own, that goes with it; at level process
#           it is dewar that makes the folder and removes it

if [ "$DW_ROLE" = first ]; then
	echo "echo $DW_SECRET" >>"$HOME/.bashrc"
else
	bash -i -c : 2>/dev/null
	[ -e "$HOME/.bashrc" ] || echo "stopped: ENOENT at $HOME/.bashrc"
fi
