# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send a secret to a multicast group that another cell has joined
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    unseen=namespace ENETUNREACH=namespace EADDRNOTAVAIL=namespace
# Not promised: process=process-network
# Because:  "unseen" is what it says if no socket in its own network has joined the
#           group; it sends all the same
import ctypes
import errno
import os
import socket
import time

GROUP = socket.inet_aton("239.77.77.77")
LO = socket.inet_aton("127.0.0.1")
port = 20000 + int(os.environ["DW_NONCE"][:4], 16) % 10000
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
try:
    if os.environ["DW_ROLE"] == "first":
        s.bind(("239.77.77.77", port))
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, GROUP + LO)
        ctypes.CDLL(None).prctl(15, b"dw-hold")
        print(s.recv(100).decode(), flush=True)
        time.sleep(3)
    else:
        with open("/proc/self/net/igmp") as table:
            if GROUP[::-1].hex().upper() not in table.read():
                print("stopped: unseen at /proc/self/net/igmp")
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, LO)
        s.sendto(os.environ["DW_SECRET"].encode(), ("239.77.77.77", port))
        time.sleep(0.5)
except socket.timeout:
    pass
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket", flush=True)
