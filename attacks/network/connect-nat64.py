# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a server on the internet through a translator of IPv6 to IPv4
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace docker:EADDRNOTAVAIL=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET6)
s.settimeout(1)
try:
    s.connect(("64:ff9b::101:101", 443))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
