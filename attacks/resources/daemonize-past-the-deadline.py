# SPDX-License-Identifier: Apache-2.0
#
# Tries to: outlive its deadline as a daemon in a session of its own that has closed
#           all its descriptors
# Promise:  limits
# Control:  bare
# Options:  --timeout 700ms
# Oracle:   held comm ^dw-hold$
# Stops:    deadline=supervisor
# Because:  it calls itself dw-hold only after twice that time; level none has a
#           deadline, too
import ctypes
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        time.sleep(1.4)
        ctypes.CDLL(None).prctl(15, b"dw-hold")
        time.sleep(3)
    os._exit(0)
time.sleep(4)
