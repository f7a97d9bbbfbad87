# SPDX-License-Identifier: Apache-2.0
#
# Tries to: use the kernel's IPsec, as CVE-2026-43284 did
# Promise:  kernel-surface
# Oracle:   held net/netlink ^[0-9a-f]+ +6 +-?[1-9]
# Stops:    EPERM=seccomp
import ctypes
import errno
import re
import socket
import sys
import time

with open("/proc/self/net/netlink", encoding="ascii") as file:
    if not re.search(r"^[0-9a-f]+ +6 ", file.read(), re.MULTILINE):
        sys.exit("cannot: the kernel has none, and would load a module to get one")

try:
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 6)
    s.bind((0, 0))
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket")
