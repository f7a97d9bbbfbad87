# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a service by a socket that lies in its workspace
# Promise:  no-network
# Options:  --workspace {base}
# Oracle:   network
# Stops:    ENOENT=mount
# Not promised: container=shown-sockets process=shown-sockets docker=shown-sockets
# Because:  a read-only mount does not stop a connect()
import errno
import socket

s = socket.socket(socket.AF_UNIX)
try:
    s.connect("docker.sock")
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
