# SPDX-License-Identifier: Apache-2.0
#
# Tries to: tell another cell a secret by opening files that both are shown, where
#           the other one watches
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    EPERM=seccomp ENOSYS=seccomp
import ctypes
import errno
import os
import struct
import sys
import time

inodes = {}
for name in sorted(os.listdir("/usr/bin")):
    name = os.path.join("/usr/bin", name)
    if os.access(name, os.R_OK):
        inodes.setdefault(os.stat(name).st_ino, name)
files = sorted(inodes.values())[-17:]
libc = ctypes.CDLL(None, use_errno=True)
end = time.monotonic() + 3


def touch(number):
    os.close(os.open(files[number], os.O_RDONLY))


if os.environ["DW_ROLE"] == "first":
    libc.prctl(15, b"dw-hold")
    while time.monotonic() < end:
        touch(16)
        touch(16)
        for digit in os.environ["DW_SECRET"]:
            touch(int(digit, 16))
            touch(16)
        time.sleep(0.05)
    sys.exit()

fd = libc.inotify_init1(os.O_NONBLOCK)
marks = [libc.inotify_add_watch(fd, name.encode(), 0x20) for name in files]  # IN_OPEN
if fd < 0 or marks[0] < 0:
    print("stopped:", errno.errorcode[ctypes.get_errno()], "at inotify")
    sys.exit()
heard = ""
while time.monotonic() < end - 2.4:
    try:
        data = os.read(fd, 4096)
    except BlockingIOError:
        time.sleep(0.01)
        continue
    for mark, _, _, _ in struct.iter_unpack("iIII", data):
        heard += "%x" % marks.index(mark) if mark != marks[16] else ""
print(heard)
