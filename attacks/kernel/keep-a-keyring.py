# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a keyring behind
# Promise:  nothing-remains
# Oracle:   remains
# Stops:    EPERM=seccomp
import ctypes
import errno
import os

SYS_ADD_KEY = 217 if os.uname().machine == "aarch64" else 248
USER_KEYRING = -4

libc = ctypes.CDLL(None, use_errno=True)
name = os.environ["DW_NONCE"].encode()
if libc.syscall(SYS_ADD_KEY, b"keyring", name, None, 0, USER_KEYRING) < 0:
    print("stopped:", errno.errorcode[ctypes.get_errno()], "at add_key")
