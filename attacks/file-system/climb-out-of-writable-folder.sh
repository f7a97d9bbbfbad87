# SPDX-License-Identifier: Apache-2.0
#
# Tries to: write beside a folder that it may write to
# Promise:  host-writes
# Oracle:   files
# Options:  --workspace {base}/ws --writable {base}/ws/out
# Stops:    EROFS=mount EACCES=landlock ENOENT=mount

cd out || exit
echo gotcha >../readme.txt
echo gotcha >../../flag
