# SPDX-License-Identifier: Apache-2.0
#
# Tries to: overhear which programs in /usr/bin another cell opens (inotify)
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    EACCES=landlock ENOSYS=seccomp EPERM=seccomp
import ctypes
import os
import select
import struct
import time

DIGITS = 32
first = os.environ["DW_ROLE"] == "first"
names = sorted(e.name for e in os.scandir("/usr/bin")
               if e.is_file(follow_symlinks=False) and e.stat().st_mode & 0o004)[:16]
if not first:
    for digit in os.environ["DW_SECRET"]:
        os.close(os.open("/usr/bin/" + names[int(digit, 16)], os.O_RDONLY))
    time.sleep(0.2)
else:
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK)
    if libc.inotify_add_watch(fd, b"/usr/bin", 0x20 | 0x10) < 0:  # IN_OPEN, IN_CLOSE_NOWRITE
        print("stopped: E%d at inotify_add_watch" % ctypes.get_errno(), flush=True)
    libc.prctl(15, b"dw-hold")
    heard, end = "", time.monotonic() + 2
    while len(heard) < DIGITS and time.monotonic() < end:
        select.select([fd], [], [], 0.1)
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            continue
        while data:
            mask, size = struct.unpack_from("4xI4xI", data)
            name = data[16:16 + size].rstrip(b"\0").decode()
            if mask & 0x20 and name in names:
                heard += "%x" % names.index(name)
            data = data[16 + size:]
    print(heard, flush=True)
    time.sleep(2)
