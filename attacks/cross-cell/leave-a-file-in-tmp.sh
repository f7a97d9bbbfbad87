# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a file in /tmp for the next cell
# Promise:  neighbours
# Cells:    after
# Oracle:   secret
# Stops:    ENOENT=mount|landlock EACCES=landlock

if [ "$DW_ROLE" = first ]; then
	echo "$DW_SECRET" >"/tmp/$DW_NONCE"
else
	cat "/tmp/$DW_NONCE"
fi
