# SPDX-License-Identifier: Apache-2.0
#
# Tries to: put a link where the writable folder was, for whoever writes there next
# Promise:  host-writes
# Oracle:   files
# Options:  --workspace {base}/ws --writable {base}/ws/out
# Stops:    EROFS=mount EACCES=landlock EXDEV=landlock EBUSY=mount
# Because:  the folder itself is not what was made writable: what is in it is

mv out elsewhere || rm -rf out
[ -e out ] || ln -s ../home out
