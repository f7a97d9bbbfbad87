# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send a datagram to every machine on the link
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
try:
    s.sendto(b"hello", ("255.255.255.255", 5353))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at sendto")
