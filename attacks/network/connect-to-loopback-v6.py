# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a service on the host's loopback address, by IPv6
# Promise:  no-network
# Oracle:   network
# Stops:    ECONNREFUSED=namespace docker:EADDRNOTAVAIL=namespace
# Not promised: process=process-network
# Because:  the cell's own loopback answers, and no process listens there
import errno
import os
import socket

s = socket.socket(socket.AF_INET6)
s.settimeout(1)
try:
    s.connect(("::1", int(os.environ["DW_PORT"])))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
