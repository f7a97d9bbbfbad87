# SPDX-License-Identifier: Apache-2.0
#
# Tries to: overhear when another cell opens and reads a file that both are shown
#           (inotify)
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    EACCES=landlock ENOSYS=seccomp EPERM=seccomp
# Because:  what is heard spells a secret: as many openings as the digit says, then
#           a reading
import ctypes
import errno
import os
import select
import struct
import time

DIGITS = 32
IN_ACCESS, IN_OPEN = 0x01, 0x20
path = os.environ["DW_SHOWN"]
if os.environ["DW_ROLE"] == "second":
    for digit in os.environ["DW_SECRET"]:
        for i in range(int(digit, 16) + 1):
            fd = os.open(path, os.O_RDONLY)
            if i == int(digit, 16):
                os.read(fd, 1)
            os.close(fd)
    time.sleep(0.5)
else:
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK)
    # All events are asked for: two of a kind in a row would be told as one.
    if fd < 0 or libc.inotify_add_watch(fd, path.encode(), 0xFFF) < 0:
        print("stopped:", errno.errorcode[ctypes.get_errno()], "at inotify", flush=True)
    libc.prctl(15, b"dw-hold")
    heard, opened, end = "", 0, time.monotonic() + 3
    while len(heard) < DIGITS and time.monotonic() < end:
        select.select([fd], [], [], 0.1)
        try:
            data = os.read(fd, 65536)
        except OSError:
            continue
        for at in range(0, len(data), 16):
            mask = struct.unpack_from("4xI", data, at)[0]
            if mask & IN_OPEN:
                opened += 1
            elif mask & IN_ACCESS:
                heard += "%x" % (opened - 1)
                opened = 0
    print(heard, flush=True)
    time.sleep(2)
