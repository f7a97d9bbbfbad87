# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach the internet by source routing
# Promise:  no-network
# Oracle:   network
# Control:  root
# Stops:    EPERM=capability
import errno
import socket

s = socket.socket(socket.AF_INET)
s.settimeout(1)
try:
    s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([131, 7, 4, 127, 0, 0, 1, 0]))
    s.connect(("1.1.1.1", 80))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at setsockopt")
