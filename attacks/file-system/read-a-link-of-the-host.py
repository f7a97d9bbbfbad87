# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read where a link of the host leads, and when its files were changed
# Promise:  host-files
# Oracle:   secret
# Stops:    ENOENT=mount
# Not promised: process=process-names
import errno
import os

base = os.environ["DW_BASE"]
try:
    print(os.readlink(base + "/names/project"), os.stat(base + "/flag").st_mtime_ns)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at readlink")
