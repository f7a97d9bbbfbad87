# SPDX-License-Identifier: Apache-2.0
#
# Tries to: write through a link in a folder that it may write to
# Promise:  host-writes
# Oracle:   files
# Options:  --workspace {base}/ws --writable {base}/ws/out
# Stops:    ENOENT=mount EROFS=mount EACCES=landlock
import errno
import os

base = os.environ["DW_BASE"]
for target in (base + "/home", base, "../src", "/proc/self/root" + base + "/home"):
    os.symlink(target, "out/link")
    try:
        with open("out/link/" + os.environ["DW_NONCE"], "w") as file:
            file.write("gotcha")
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at", target)
    os.unlink("out/link")
