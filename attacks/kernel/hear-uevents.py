# SPDX-License-Identifier: Apache-2.0
#
# Tries to: receive an event for every device that is added or removed on the host
# Promise:  kernel-surface
# Oracle:   held net/netlink ^[0-9a-f]+ +15 +-?[1-9]
# Stops:    EPERM=seccomp
import ctypes
import errno
import socket
import time

try:
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
    s.bind((0, 0))
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket")
