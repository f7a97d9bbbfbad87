# SPDX-License-Identifier: Apache-2.0
#
# Tries to: tell another cell a secret in the places of locks on a file of our
#           own, which /proc/locks shows to every process
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    ENOENT=mount empty=mount
# Not promised: process=process-sees-host
import ctypes
import errno
import fcntl
import os
import re
import struct
import time

F_OFD_SETLK = 37
MARK = int(os.environ["DW_NONCE"][:4], 16)  # other suites may run on this host
secret = os.environ["DW_SECRET"]
if os.environ["DW_ROLE"] == "first":
    fd = os.open(os.environ["DW_NONCE"], os.O_RDWR | os.O_CREAT)
    for i in range(4):
        start = i << 48 | int(secret[8 * i:8 * i + 8], 16) << 16 | MARK
        fcntl.fcntl(fd, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, start, 1, 0))
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
else:
    try:
        with open("/proc/locks") as table:
            text = table.read()
        starts = sorted({int(n) for n in re.findall(r"(\d+) \d+$", text, re.M)})
        print("".join("%08x" % (n >> 16 & 0xffffffff) for n in starts if n & 0xffff == MARK))
        if not text:
            print("stopped: empty at /proc/locks")
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at /proc/locks")
