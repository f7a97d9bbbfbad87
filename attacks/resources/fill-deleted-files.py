# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its /tmp limit with files that have no name any more
# Promise:  limits
# Options:  --tmp 8M
# Oracle:   count tmp_mb > 20
# Stops:    ENOSPC=limit:tmp disk=limit:tmp
# Not promised: unenforced:tmp=limit-not-enforced
import ctypes
import errno
import os
import time

held = []
try:
    for _ in range(10):
        held.append(open("filling", "wb", 0))
        os.unlink("filling")
        for _ in range(64):
            if held[-1].write(b"x" * 65536) != 65536:
                held[-1].write(b"x")
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at write")
