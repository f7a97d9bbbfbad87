# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a service of the host by a socket that lies in the workspace
# Promise:  no-network
# Oracle:   network
# Oracle:   secret
# Options:  --workspace {base}
# Stops:    EACCES=landlock EPERM=seccomp ECONNREFUSED=mount
# Not promised: process=shown-sockets container=shown-sockets
import errno
import socket

s = socket.socket(socket.AF_UNIX)
s.settimeout(1)
try:
    s.connect("docker.sock")
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
