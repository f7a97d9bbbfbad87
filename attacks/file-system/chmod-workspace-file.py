# SPDX-License-Identifier: Apache-2.0
#
# Tries to:     change the mode of a file of the workspace
# Promise:      host-writes
# Oracle:       files
# Options:      --workspace {base}/ws
# Stops:        EROFS=mount
# Not promised: process=process-attributes
import errno
import os

try:
    os.chmod("readme.txt", 0o666)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at chmod")
