# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its memory limit with a list that grows
# Promise:  limits
# Options:  --memory 64M
# Oracle:   count memory_mb > 128
# Stops:    oom=limit:memory ENOMEM=limit:memory
import ctypes
import time

held = []
try:
    for _ in range(50):
        held.append(b"x" * (4 << 20))
        time.sleep(0.003)
    time.sleep(0.3)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
except MemoryError:
    print("stopped: ENOMEM at bytes")
