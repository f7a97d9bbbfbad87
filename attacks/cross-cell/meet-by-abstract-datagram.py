# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send another cell a secret in a datagram to an abstract unix socket
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    ECONNREFUSED=namespace EPERM=landlock
# Not promised: process=process-network
# Because:  the name is looked for in the cell's own network namespace, where
#           no socket has this name; the control shows that one does elsewhere
import ctypes
import errno
import os
import socket
import time

name = "\0" + os.environ["DW_NONCE"]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.settimeout(3)
try:
    if os.environ["DW_ROLE"] == "first":
        s.bind(name)
        ctypes.CDLL(None).prctl(15, b"dw-hold")
        print(s.recv(100).decode(), flush=True)
        time.sleep(3)
    else:
        s.sendto(os.environ["DW_SECRET"].encode(), name)
        time.sleep(0.5)
except socket.timeout:
    pass
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket", flush=True)
