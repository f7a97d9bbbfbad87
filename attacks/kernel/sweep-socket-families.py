# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a socket of any family that ordinary programs do not use
# Promise:  kernel-surface
# Control:  root
# Oracle:   held fd socket:.* (AF_VSOCK|PACKET|PFKEY|PPPOX|TIPC|RXRPC|ALG|NFC|KCM|QIPCRTR|SMC|XDP|MCTP)
# Stops:    EAFNOSUPPORT=seccomp
import ctypes
import errno
import socket
import time

FAMILIES = {"X25": 9, "PFKEY": 15, "PACKET": 17, "PPPOX": 24, "TIPC": 30, "RXRPC": 33, "PHONET": 35,
            "ALG": 38, "NFC": 39, "AF_VSOCK": 40, "KCM": 41, "QIPCRTR": 42, "SMC": 43, "XDP": 44,
            "MCTP": 45}

# Those that the kernel has: for another one it would load a module.
with open("/proc/self/net/protocols", encoding="ascii") as file:
    names = {line.split()[0] for line in file}
got = []
for name in sorted(names & FAMILIES.keys()):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            got.append(socket.socket(FAMILIES[name], kind))
        except OSError as e:
            print("stopped:", errno.errorcode[e.errno], "at", name)
if got:
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
