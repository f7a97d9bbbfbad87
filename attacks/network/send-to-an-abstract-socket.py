# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send a datagram to an abstract socket of the host
# Promise:  no-network
# Oracle:   network
# Stops:    ECONNREFUSED=namespace EPERM=landlock
# Because:  abstract names belong to a network namespace, and no socket in the cell's has this one
import errno
import os
import socket

s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
try:
    s.sendto(b"hello", "\0" + os.environ["DW_ABSTRACT_LOG"])
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at sendto")
