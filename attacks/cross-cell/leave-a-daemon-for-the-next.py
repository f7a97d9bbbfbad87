# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a process that serves the next cell
# Promise:  nothing-remains
# Control:  bare
# Cells:    after
# Oracle:   secret
# Stops:    ECONNREFUSED=namespace|supervisor
# Because:  no process listens any more: the first cell's processes ended with its pid
#           namespace, or, at level process, by dewar's hand; the control shows
#           that the daemon outlives its parent, and level none ends it, too
import errno
import os
import socket
import time

port = 20000 + int(os.environ["DW_NONCE"][:4], 16) % 10000
s = socket.socket()
s.settimeout(20)  # the next cell comes late on a busy host
try:
    if os.environ["DW_ROLE"] == "first":
        s.bind(("127.0.0.1", port))
        s.listen()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                null = os.open("/dev/null", os.O_RDWR)
                for fd in (0, 1, 2):
                    os.dup2(null, fd)
                s.accept()[0].sendall(os.environ["DW_SECRET"].encode())
                time.sleep(1)
            os._exit(0)
        os.wait()
    else:
        s.connect(("127.0.0.1", port))
        print(s.recv(100).decode())
except socket.timeout:
    pass
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at connect", flush=True)
