# SPDX-License-Identifier: Apache-2.0
#
# Tries to: mount the root of the tree in a folder of its own, and read there
# Promise:  host-files
# Control:  root
# Oracle:   secret
# Stops:    EPERM=seccomp|capability
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
os.mkdir("m")
if libc.mount(b"/", b"m", None, 0x5000, None) < 0:  # MS_BIND | MS_REC
    print("stopped:", errno.errorcode[ctypes.get_errno()], "at mount")
else:
    print(open("m" + os.environ["DW_FLAG"]).read())
