# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send a datagram to a service on the host's loopback address
# Promise:  no-network
# Oracle:   network
# Stops:    ECONNREFUSED=namespace
# Not promised: process=process-network
# Because:  the cell's own loopback answers, and no process listens there
import errno
import os
import socket

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(1)
try:
    s.connect(("127.0.0.1", int(os.environ["DW_PORT"])))
    s.send(b"hello")
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at recv")
