# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a netlink socket of any protocol but the one for routes
# Promise:  kernel-surface
# Oracle:   held net/netlink ^[0-9a-f]+ +([1-9]|1[0-9]|2[0-9]) +-?[1-9]
# Stops:    EPERM=seccomp
import ctypes
import errno
import socket
import time

# Those that the kernel has: for another one it would load a module.
with open("/proc/self/net/netlink", encoding="ascii") as file:
    protocols = {int(line.split()[1]) for line in file.readlines()[1:]} - {0}
got = []
for protocol in sorted(protocols):
    try:
        s = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, protocol)
        s.bind((0, 0))
        got.append(s)
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at protocol", protocol)
if got:
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
