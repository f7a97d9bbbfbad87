# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a socket to the hypervisor
# Promise:  kernel-surface
# Oracle:   held fd AF_VSOCK
# Stops:    EAFNOSUPPORT=seccomp
# Because:  it is bound and connected to nothing
import ctypes
import errno
import socket
import sys
import time

with open("/proc/self/net/protocols", encoding="ascii") as file:
    if "AF_VSOCK" not in file.read():
        sys.exit("cannot: the kernel has none, and would load a module to get one")

try:
    s = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket")
