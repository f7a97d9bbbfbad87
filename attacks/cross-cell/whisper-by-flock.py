# SPDX-License-Identifier: Apache-2.0
#
# Tries to: tell another cell a secret by which programs in /usr/bin it has locked
#           (flock)
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    EACCES=landlock apart=mount
# Not promised: container=shared-files process=shared-files
# Because:  programs of an image are apart: each container has a layer of its own over them
import ctypes
import fcntl
import os
import time

BITS = 128
first = os.environ["DW_ROLE"] == "first"
secret = int(os.environ["DW_SECRET"], 16)
held, heard = [], 0
names = {e.inode(): e.path for e in sorted(os.scandir("/usr/bin"), key=lambda e: e.name)
         if e.is_file(follow_symlinks=False) and e.stat().st_mode & 0o004}
for bit, path in zip(range(BITS), names.values()):
    fd = os.open(path, os.O_RDONLY)
    if not first:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            heard |= 1 << bit
        os.close(fd)
    elif secret >> bit & 1:
        fcntl.flock(fd, fcntl.LOCK_SH)
        held.append(fd)
if first:
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
else:
    print("%032x" % heard)
    if not heard:
        print("stopped: apart at flock")
