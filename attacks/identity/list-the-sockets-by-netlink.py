# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have the kernel list the sockets of the host (sock_diag)
# Promise:  identity
# Oracle:   secret
# Stops:    EPERM=seccomp
import errno
import socket
import struct

DUMP, BY_FAMILY, SHOW_NAME = 0x301, 20, 1
try:
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
    s.settimeout(1)
    request = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, 0xFFFFFFFF, 0, SHOW_NAME, 0, 0)
    s.send(struct.pack("=IHHII", 16 + len(request), BY_FAMILY, DUMP, 1, 0) + request)
    print(s.recv(65536).decode("latin-1").replace("\0", " "))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at socket")
