# SPDX-License-Identifier: Apache-2.0
#
# Tries to: take the connections to another cell's service, by sharing its port
#           at a narrower address (SO_REUSEPORT)
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    mine=namespace
# Not promised: process=process-network
# Because:  "mine" is what the second cell says when its own service, and not the
#           thief's, got what it sent
import ctypes
import os
import socket
import time

port = 20000 + int(os.environ["DW_NONCE"][:4], 16) % 10000
first = os.environ["DW_ROLE"] == "first"
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s.settimeout(3 if first else 0.5)
s.bind(("127.0.0.1" if first else "0.0.0.0", port))
s.listen()
try:
    if first:
        ctypes.CDLL(None).prctl(15, b"dw-hold")
        print(s.accept()[0].recv(100).decode(), flush=True)
        time.sleep(3)
    else:
        client = socket.create_connection(("127.0.0.1", port), 2)
        client.sendall(os.environ["DW_SECRET"].encode())
        s.accept()
        print("stopped: mine at accept")
except socket.timeout:
    pass
