# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read a file of the host through symbolic links of its own
# Promise:  host-files
# Oracle:   secret
# Stops:    ENOENT=mount EACCES=landlock

ln -s "$DW_FLAG" link
ln -s link again
cat again
