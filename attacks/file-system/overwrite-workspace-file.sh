# SPDX-License-Identifier: Apache-2.0
#
# Tries to: overwrite a file of the workspace
# Promise:  host-writes
# Oracle:   files
# Options:  --workspace {base}/ws
# Stops:    EROFS=mount EACCES=landlock

echo gotcha >readme.txt
