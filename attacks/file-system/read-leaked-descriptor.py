# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read a file that its caller had open and did not close
# Promise:  host-files
# Control:  bare
# Oracle:   secret
# Stops:    EBADF=absent
# Because:  dewar closes all inherited descriptors
import errno
import os

try:
    print(os.pread(9, 100, 0))
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at pread")
