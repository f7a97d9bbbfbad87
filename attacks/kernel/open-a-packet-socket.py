# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a socket that sees and sends whole frames
# Promise:  kernel-surface
# Control:  root
# Oracle:   held fd PACKET
# Stops:    EAFNOSUPPORT=seccomp EPERM=capability
import ctypes
import errno
import socket
import time

try:
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket")
