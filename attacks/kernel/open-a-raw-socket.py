# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a raw IPv4 socket
# Promise:  kernel-surface
# Control:  root
# Oracle:   held fd RAW
# Stops:    EPERM=seccomp|capability
import ctypes
import errno
import socket
import time

try:
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket")
