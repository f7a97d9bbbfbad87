# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach an abstract socket of the host
# Promise:  no-network
# Oracle:   network
# Stops:    ECONNREFUSED=namespace EPERM=landlock
# Because:  abstract names belong to a network namespace, and no socket in the cell's has this one
import errno
import os
import socket

s = socket.socket(socket.AF_UNIX)
try:
    s.connect("\0" + os.environ["DW_ABSTRACT"])
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
