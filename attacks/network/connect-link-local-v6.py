# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a neighbour by its link-local IPv6 address
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace docker:EADDRNOTAVAIL=namespace
# Not promised: process=process-network
import errno
import os
import socket

s = socket.socket(socket.AF_INET6)
s.settimeout(1)
try:
    s.connect(("fe80::1", int(os.environ["DW_PORT"]), 0, 1))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
