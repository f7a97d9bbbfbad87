# SPDX-License-Identifier: Apache-2.0
#
# Tries to: listen where the host's network reaches in
# Promise:  no-network
# Oracle:   held ../1/net/tcp :9CBC 00000000:0000 0A
# Stops:    ECONNREFUSED=namespace
# Not promised: process=process-network
# Because:  it listens, but where the host's services do not answer: in a network of its own
import ctypes
import errno
import os
import socket
import time

listener = socket.socket()
listener.bind(("0.0.0.0", 0x9CBC))
listener.listen()
try:
    socket.create_connection(("127.0.0.1", int(os.environ["DW_PORT"])), 1)
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
ctypes.CDLL(None).prctl(15, b"dw-hold")
time.sleep(1)
