# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a set-uid program in a folder that it may write to
# Promise:  host-writes
# Oracle:   files
# Options:  --workspace {base}/ws --writable {base}/ws/out
# Stops:    EPERM=seccomp
# Because:  its owner would be the folder's owner, possibly root, and every user that starts
#           it would get that id

cp /bin/true out/tool
chmod u+s out/tool
