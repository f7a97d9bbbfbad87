# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its /tmp limit with one file
# Promise:  limits
# Options:  --tmp 8M
# Oracle:   count tmp_mb > 20
# Stops:    ENOSPC=limit:tmp disk=limit:tmp EFBIG=limit:tmp
import ctypes
import errno
import time

try:
    with open("filling", "wb", 0) as file:
        for _ in range(40):
            data = b"x" * (1 << 20)
            while data:
                data = data[file.write(data):]
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at write")
