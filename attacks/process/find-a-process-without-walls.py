# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find a process like itself that has fewer walls
# Promise:  privileges
# Oracle:   held status ^Seccomp:.0
# Oracle:   held status ^Seccomp_filters:.[12]$
# Oracle:   held status ^NoNewPrivs:.0
# Oracle:   held status ^Cap(Prm|Eff|Amb):.*[1-9a-f]
# Stops:    walled=seccomp
# Because:  beside a program from a zygote runs a process that shares its memory; a program that writes that
#           memory decides what it does, so it must have every wall. All in the cell are looked at
import ctypes
import os
import time


def read(pid, name):
    try:
        with open("/proc/%s/%s" % (pid, name), encoding="latin-1") as file:
            return file.read()
    except OSError:
        return ""


kin = [pid for pid in os.listdir("/proc") if pid.isdigit() and pid != "1" and
       read(pid, "cmdline") == read("self", "cmdline")]
filters = [line for line in read("self", "status").split("\n") if "Seccomp" in line]
if kin and "Seccomp:\t2" in filters and all(
        line in read(pid, "status") for line in filters for pid in kin):
    print("stopped: walled at status", flush=True)
ctypes.CDLL(None).prctl(15, b"dw-hold")
time.sleep(60)
