# SPDX-License-Identifier: Apache-2.0
#
# Tries to: keep what those before it left open: files, sockets, cgroups, processes, rulesets
# Promise:  host-files
# Control:  bare
# Oracle:   held fd (flag|cgroup|tasks|pidfd|landlock|socket:|memfd|/proc|(user|mnt|pid|net|ipc|uts):)
# Stops:    nothing=absent
# Because:  a zygote has a socket for its orders, and gets descriptors with each of them; all are
#           closed before there is any code of a caller's. A process that holds is inspected whatever it found
import ctypes
import os
import time

left = []
for number in range(3, 256):
    try:
        os.fstat(number)
        left.append(number)
    except OSError:
        pass
if not left:
    print("stopped: nothing at fstat", flush=True)
ctypes.CDLL(None).prctl(15, b"dw-hold")
time.sleep(60)
