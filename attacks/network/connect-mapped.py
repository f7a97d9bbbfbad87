# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a server on the internet by an IPv4 address mapped into IPv6
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET6)
s.settimeout(1)
try:
    s.connect(("::ffff:1.1.1.1", 80))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
