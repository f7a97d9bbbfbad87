# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a ~/.gitconfig whose commands run when the next cell uses git
# Promise:  neighbours
# Cells:    after
# Oracle:   secret
# Stops:    ENOENT=mount|supervisor
# Because:  each cell has a home of its own, that goes with it; at level process
#           it is dewar that makes the folder and removes it

if [ "$DW_ROLE" = first ]; then
	printf '[alias]\n\tgo = !echo %s\n' "$DW_SECRET" >"$HOME/.gitconfig"
else
	git go 2>/dev/null
	[ -e "$HOME/.gitconfig" ] || echo "stopped: ENOENT at $HOME/.gitconfig"
fi
