# SPDX-License-Identifier: Apache-2.0
#
# Tries to: ping a machine on the internet, by IPv6
# Promise:  no-network
# Oracle:   network
# Stops:    EACCES=namespace ENETUNREACH=namespace docker:EADDRNOTAVAIL=namespace
# Not promised: process=process-network
# Because:  in a new network namespace no group may ping, and there is no route
import errno
import socket

try:
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6)
    s.sendto(bytes([128, 0, 0, 0, 0, 1, 0, 1]) + b"secret", ("2606:4700::1111", 0))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at ping")
