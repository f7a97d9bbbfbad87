# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a socket of the host through a symbolic link of its own
# Promise:  no-network
# Oracle:   network
# Stops:    ENOENT=mount
# Not promised: process=process-sockets
import errno
import os
import socket

os.symlink(os.environ["DW_SOCKET"], "link")
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("link")
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
