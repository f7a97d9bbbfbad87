# SPDX-License-Identifier: Apache-2.0
#
# Tries to: change the domain name of the host
# Promise:  kernel-surface
# Control:  root
# Oracle:   witness
# Stops:    EPERM=seccomp|capability
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
name = os.environ["DW_NONCE"].encode()
if libc.setdomainname(name, len(name)) < 0:
    print("stopped:", errno.errorcode[ctypes.get_errno()], "at setdomainname")
