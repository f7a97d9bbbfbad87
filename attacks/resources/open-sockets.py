# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its limit on open files with sockets
# Promise:  limits
# Options:  --files 32
# Oracle:   count open_files > 100
# Stops:    EMFILE=limit:files
import ctypes
import errno
import socket
import time

libc = ctypes.CDLL(None)
held = []
try:
    for _ in range(100):
        held += socket.socketpair()
    libc.prctl(15, b"dw-hold")
    time.sleep(3)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at socketpair")
