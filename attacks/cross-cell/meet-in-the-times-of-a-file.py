# SPDX-License-Identifier: Apache-2.0
#
# Tries to: tell another cell a secret in the times of a file of the workspace,
#           which both may only read
# Promise:  neighbours
# Cells:    pair
# Options:  --workspace {base}/ws
# Oracle:   secret
# Stops:    EROFS=mount
# Not promised: process=process-attributes
import ctypes
import errno
import os
import time

FILES = ["readme.txt", "src/main.py", "out/old.txt"]
secret = os.environ["DW_SECRET"]
if os.environ["DW_ROLE"] == "first":
    try:
        for i, name in enumerate(FILES):
            part = int(secret[11 * i:11 * i + 11], 16)
            os.utime(name, ns=(0, part * 1000))
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at utimensat", flush=True)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
else:
    parts = [os.stat(name).st_mtime_ns // 1000 for name in FILES]
    print("%011x%011x%010x" % tuple(parts))
