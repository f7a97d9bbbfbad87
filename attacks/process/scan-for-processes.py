# SPDX-License-Identifier: Apache-2.0
#
# Tries to: go through all numbers of processes, and tell what the others were started with
# Promise:  host-processes
# Oracle:   secret
# Stops:    alone=namespace
# Not promised: process=process-sees-host
# Because:  the cell's own /proc answers, and shows only the cell's processes; in a warm one there is
#           one more of our own, started as we were
import os


def start_of(pid):
    try:
        with open("/proc/%s/cmdline" % pid, encoding="latin-1") as file:
            return file.read().replace("\0", " ")
    except OSError:
        return "unknown"


others = [n for n in os.listdir("/proc") if n.isdigit() and n != "1" and
          start_of(n) != start_of("self")]
for pid in others:
    print(pid, start_of(pid))
if not others:
    print("stopped: alone at /proc")
