# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its process limit after ending the processes that came with the
#           cell
# Promise:  limits
# Options:  --pids 16
# Oracle:   count processes > 40
# Stops:    EAGAIN=limit:pids pids=limit:pids
# Not promised: foreign:docker=docker-threads
import ctypes
import errno
import os
import signal
import time


def start(pid):
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as file:
            return file.read()
    except OSError:
        return b"?"


for pid in os.listdir("/proc"):
    if pid.isdigit() and int(pid) != os.getpid() and start(pid) == start("self"):
        os.kill(int(pid), signal.SIGKILL)
try:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(4)
            os._exit(0)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at fork", flush=True)
ctypes.CDLL(None).prctl(15, b"dw-hold")
time.sleep(2)
