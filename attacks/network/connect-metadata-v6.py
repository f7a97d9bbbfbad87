# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach the cloud's metadata service by IPv6
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace docker:EADDRNOTAVAIL=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET6)
s.settimeout(1)
try:
    s.connect(("fd00:ec2::254", 80))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
