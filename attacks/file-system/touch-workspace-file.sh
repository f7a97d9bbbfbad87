# SPDX-License-Identifier: Apache-2.0
#
# Tries to:     change the times of a file of the workspace
# Promise:      host-writes
# Oracle:       files
# Options:      --workspace {base}/ws
# Stops:        EROFS=mount
# Not promised: process=process-attributes

touch -c -d 2001-01-01 readme.txt
