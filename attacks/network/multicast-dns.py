# SPDX-License-Identifier: Apache-2.0
#
# Tries to: ask every machine on the link for a name
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    s.sendto(b"hello", ("224.0.0.251", 5353))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at sendto")
