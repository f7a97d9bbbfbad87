# SPDX-License-Identifier: Apache-2.0
#
# Tries to: make a user and a network namespace from Python
# Promise:  kernel-surface
# Oracle:   held ns ^net$
# Stops:    EPERM=seccomp
import ctypes
import errno
import time

libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000 | 0x40000000) < 0:
    print("stopped:", errno.errorcode[ctypes.get_errno()], "at unshare")
else:
    libc.prctl(15, b"dw-hold")
    time.sleep(60)
