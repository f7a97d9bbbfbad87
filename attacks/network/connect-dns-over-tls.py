# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a public resolver by DNS over TLS
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import socket

s = socket.socket(socket.AF_INET)
s.settimeout(1)
try:
    s.connect(("9.9.9.9", 853))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
