# SPDX-License-Identifier: Apache-2.0
#
# Tries to: put set-id bits on a file, and then move it to a shared folder
# Promise:  privileges
# Options:  --workspace {base}/ws --writable out
# Oracle:   files
# Stops:    EPERM=seccomp
import errno
import os

name = "out/" + os.environ["DW_NONCE"]
fd = os.open("out", os.O_RDWR | os.O_TMPFILE, 0o755)
try:
    os.fchmod(fd, 0o6755)
    here = os.open("/proc/self/fd", os.O_RDONLY)
    os.link(str(fd), name, src_dir_fd=here, follow_symlinks=True)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at fchmod")
