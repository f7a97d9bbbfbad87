# SPDX-License-Identifier: Apache-2.0
#
# Tries to: hand another cell an open file of our own, over an abstract socket
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    ECONNREFUSED=namespace EPERM=landlock
# Not promised: process=process-network
# Because:  the name is looked for in the cell's own network namespace, where
#           no process listens; the control shows that one does elsewhere
import ctypes
import errno
import os
import socket
import time

name = "\0" + os.environ["DW_NONCE"]
s = socket.socket(socket.AF_UNIX)
s.settimeout(3)
try:
    if os.environ["DW_ROLE"] == "first":
        fd = os.memfd_create("mine")
        os.write(fd, os.environ["DW_SECRET"].encode())
        s.bind(name)
        s.listen()
        ctypes.CDLL(None).prctl(15, b"dw-hold")
        socket.send_fds(s.accept()[0], [b"x"], [fd])
        time.sleep(3)
    else:
        s.connect(name)
        fd = socket.recv_fds(s, 1, 1)[1][0]
        print(os.pread(fd, 100, 0).decode())
except socket.timeout:
    pass
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket", flush=True)
