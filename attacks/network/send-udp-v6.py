# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send a datagram to the internet, by IPv6
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace docker:EADDRNOTAVAIL=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
try:
    s.sendto(b"hello", ("2606:4700::1111", 53))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at sendto")
