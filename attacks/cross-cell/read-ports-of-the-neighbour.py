# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read another cell's secret off the list of its open ports
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    unseen=namespace
# Not promised: process=process-network
# Because:  "unseen" is what it says if none of the ports is in its own
#           /proc/self/net/udp
import ctypes
import os
import re
import socket
import time

if os.environ["DW_ROLE"] == "first":
    held = []
    for i, digit in enumerate(os.environ["DW_SECRET"]):
        held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        held[-1].bind(("127.9.9.9", 30000 + 16 * i + int(digit, 16)))
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
else:
    with open("/proc/self/net/udp") as table:
        ports = sorted(int(p, 16) - 30000 for p in re.findall(r"0909097F:(\w+)", table.read()))
    print("".join("%x" % (p % 16) for p in ports) or "stopped: unseen at /proc/self/net/udp")
