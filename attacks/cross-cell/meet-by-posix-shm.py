# SPDX-License-Identifier: Apache-2.0
#
# Tries to: share memory with another cell through a named segment, as Python's
#           multiprocessing does
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    ENOENT=mount|landlock EACCES=landlock
import ctypes
import errno
import os
import time
from multiprocessing import resource_tracker, shared_memory

resource_tracker.register = lambda *_: None
resource_tracker.unregister = lambda *_: None
name = os.environ["DW_NONCE"]
first = os.environ["DW_ROLE"] == "first"
try:
    shm = shared_memory.SharedMemory(name, create=first, size=64)
    if first:
        shm.buf[:32] = os.environ["DW_SECRET"][:32].encode()
    else:
        print(bytes(shm.buf[:32]).decode())
        shm.unlink()
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at shm_open", flush=True)
if first:
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
