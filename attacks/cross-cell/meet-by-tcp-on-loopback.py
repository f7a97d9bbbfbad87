# SPDX-License-Identifier: Apache-2.0
#
# Tries to: serve another cell on the loopback address
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    ECONNREFUSED=namespace
# Not promised: process=process-network
# Because:  each cell has a loopback of its own, and at that of the second cell
#           no process listens; the control shows that one does elsewhere
import ctypes
import errno
import os
import socket
import time

port = 20000 + int(os.environ["DW_NONCE"][:4], 16) % 10000
s = socket.socket()
s.settimeout(3)
try:
    if os.environ["DW_ROLE"] == "first":
        s.bind(("127.0.0.1", port))
        s.listen()
        ctypes.CDLL(None).prctl(15, b"dw-hold")
        s.accept()[0].sendall(os.environ["DW_SECRET"].encode())
        time.sleep(3)
    else:
        s.connect(("127.0.0.1", port))
        print(s.recv(100).decode())
except socket.timeout:
    pass
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket", flush=True)
