# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its memory limit with many processes, each of which is small
# Promise:  limits
# Options:  --memory 96M
# Oracle:   count memory_mb > 180
# Stops:    oom=limit:memory SIGKILL=limit:memory
# Because:  where the kernel ends only one of them, its parent says SIGKILL
import ctypes
import os
import time

for _ in range(16):
    if os.fork() == 0:
        held = b"x" * (15 << 20)
        time.sleep(4)
        os._exit(0)
    time.sleep(0.02)
time.sleep(0.4)
if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG):
    print("stopped: SIGKILL at waitid")
else:
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
