# SPDX-License-Identifier: Apache-2.0
#
# Tries to: replace the writable folder by a link, for the next process that writes there
# Promise:  host-writes
# Oracle:   files
# Options:  --workspace {base}/ws --writable {base}/ws/out
# Stops:    EROFS=mount EACCES=landlock EXDEV=landlock EBUSY=mount
# Because:  only the contents of the folder were made writable, not the folder itself

mv out elsewhere || rm -rf out
[ -e out ] || ln -s ../home out
