# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find the path of another cell's socket, in its own folder, in the list
#           of all unix sockets, and connect to it
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    unseen=namespace
# Not promised: process=process-sockets
# Because:  "unseen" is what it says if the socket is not in its own
#           /proc/self/net/unix
import ctypes
import errno
import os
import re
import socket
import time

s = socket.socket(socket.AF_UNIX)
s.settimeout(3)
try:
    if os.environ["DW_ROLE"] == "first":
        s.bind(os.path.join(os.getcwd(), os.environ["DW_NONCE"]))
        s.listen()
        ctypes.CDLL(None).prctl(15, b"dw-hold")
        s.accept()[0].sendall(os.environ["DW_SECRET"].encode())
        time.sleep(3)
    else:
        with open("/proc/self/net/unix") as table:
            found = re.search("/\\S*" + os.environ["DW_NONCE"], table.read())
        if found:
            s.connect(found.group())
            print(s.recv(100).decode())
        else:
            print("stopped: unseen at /proc/self/net/unix")
except socket.timeout:
    pass
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socket", flush=True)
