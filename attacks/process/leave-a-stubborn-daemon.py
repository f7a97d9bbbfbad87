# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a process behind that no signal but one ends, and that looks like a
#           thread of the kernel
# Promise:  nothing-remains
# Control:  bare
# Oracle:   remains
# Stops:    end=namespace|supervisor
# Because:  nothing is refused: init ends this process with the cell
import ctypes
import os
import signal
import sys
import time

if os.fork() == 0:
    os.setsid()
    for sig in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(sig, signal.SIG_IGN)
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"kworker/0:1")
        os.closerange(0, 64)
        time.sleep(60)
    os._exit(0)
print("stopped: end at the end of the cell")
sys.stdout.flush()
