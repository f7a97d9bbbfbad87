# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a socket of multipath TCP
# Promise:  kernel-surface
# Oracle:   held fd MPTCPv6
# Stops:    EPROTONOSUPPORT=seccomp
import ctypes
import errno
import socket
import time

try:
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 262)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket")
