# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the arguments of another cell's processes in /proc
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    unseen=namespace
# Not promised: process=process-sees-host
# Because:  "unseen" is what it says if no process that /proc shows was started
#           with the secret
import ctypes
import glob
import os
import subprocess
import sys
import time

if os.environ["DW_ROLE"] == "first":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3)",
                              "token=" + os.environ["DW_SECRET"]])
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
    sys.exit()
found = ""
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        with open(path) as file:
            found += "".join(w + "\n" for w in file.read().split("\0") if w[:6] == "token=")
    except OSError:
        pass
print(found or "stopped: unseen at /proc")
