# SPDX-License-Identifier: Apache-2.0
#
# Tries to: be in another namespace than the first process of its cell, by any way there is
# Promise:  kernel-surface
# Control:  root
# Oracle:   held ns .
# Stops:    EPERM=seccomp
# Because:  a program that came from a zygote has entered each namespace by itself; one that it
#           stayed out of would be the zygote's. A process that holds is inspected whatever it could do
import ctypes
import errno
import time

UTS, IPC, NET, CGROUP = 0x4000000, 0x8000000, 0x40000000, 0x2000000
libc = ctypes.CDLL(None, use_errno=True)
for kind in (UTS, IPC, NET, CGROUP):
    if libc.unshare(kind) < 0:
        print("stopped:", errno.errorcode[ctypes.get_errno()], "at unshare", flush=True)
libc.prctl(15, b"dw-hold")
time.sleep(60)
