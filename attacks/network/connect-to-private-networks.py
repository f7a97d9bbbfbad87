# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach machines in the networks around the host
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import socket

for address in ("10.0.0.1", "172.17.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1"):
    s = socket.socket()
    s.settimeout(0.5)
    try:
        s.connect((address, 80))
    except OSError as e:
        print("stopped:", errno.errorcode.get(e.errno, e), "at", address)
