# SPDX-License-Identifier: Apache-2.0
#
# Tries to: pass the routes by, with a socket that is bound to a device
# Promise:  no-network
# Oracle:   network
# Stops:    ETIMEDOUT=namespace EHOSTUNREACH=namespace
# Not promised: process=process-network
# Because:  the only device is the cell's own lo, on which the packet goes round and is dropped;
#           that none was counted on the host's is what proves it
import errno
import socket

s = socket.socket(socket.AF_INET)
s.settimeout(1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
try:
    s.connect(("1.1.1.1", 80))
    print(s.recv(100))
except TimeoutError:
    print("stopped: ETIMEDOUT at connect")
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
