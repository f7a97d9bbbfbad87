# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read what lies in folders of the host that no cell needs
# Promise:  host-files
# Oracle:   secret
# Stops:    ENOENT=mount EACCES=landlock

for folder in "$DW_MNT" "$DW_SRV" "$DW_VAR" "$DW_ETC"; do
	[ -z "$folder" ] || cat "$folder/flag"
done
