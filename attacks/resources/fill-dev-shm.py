# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its /tmp limit by writing to /dev/shm, which no limit names
# Promise:  limits
# Options:  --tmp 8M
# Oracle:   count tmp_mb > 20
# Stops:    ENOSPC=limit:tmp disk=limit:tmp EACCES=landlock
import ctypes
import errno
import os
import time

try:
    os.chdir("/dev/shm")
    with open(os.environ["DW_NONCE"], "wb", 0) as file:
        for _ in range(640):
            if file.write(b"x" * 65536) != 65536:
                file.write(b"x")
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at /dev/shm")
