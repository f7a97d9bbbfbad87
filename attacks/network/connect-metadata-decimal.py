# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach the cloud's metadata service by its address as one number
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET)
s.settimeout(1)
try:
    s.connect(("2852039166", 80))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
