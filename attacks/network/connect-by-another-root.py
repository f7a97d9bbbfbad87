# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a socket of the host through the root folder of a process of the host
# Promise:  no-network
# Oracle:   network
# Stops:    ENOENT=namespace EACCES=landlock
import errno
import os
import socket

s = socket.socket(socket.AF_UNIX)
try:
    s.connect("/proc/%s/root%s" % (os.environ["DW_PID"], os.environ["DW_SOCKET"]))
    print(s.recv(100))
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
