# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a socket of a protocol that few programs use
# Promise:  kernel-surface
# Oracle:   held fd UDP-Lite
# Stops:    EPROTONOSUPPORT=seccomp
import ctypes
import errno
import socket
import time

try:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket")
