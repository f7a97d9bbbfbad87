# SPDX-License-Identifier: Apache-2.0
#
# Tries to: go through all numbers of processes, and tell what the others were started with
# Promise:  host-processes
# Oracle:   secret
# Stops:    alone=namespace
# Not promised: process=process-sees-host
# Because:  the cell's own /proc answers, and has nobody in it but the cell
import os

own = {"1", str(os.getpid())}
others = [n for n in os.listdir("/proc") if n.isdigit() and n not in own]
for pid in others:
    try:
        with open("/proc/%s/cmdline" % pid, encoding="latin-1") as file:
            print(pid, file.read().replace("\0", " "))
    except OSError:
        pass
if not others:
    print("stopped: alone at /proc")
