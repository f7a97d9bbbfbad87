# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach the internet from an address that is not the cell's
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET)
s.settimeout(1)
s.setsockopt(socket.IPPROTO_IP, 15, 1)  # IP_FREEBIND
s.bind(("8.8.8.8", 0))
try:
    s.connect(("1.1.1.1", 80))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
