# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its process limit with a chain of processes, each the child of the
#           one before
# Promise:  limits
# Options:  --pids 16 --memory 1G
# Oracle:   count processes > 40
# Stops:    EAGAIN=limit:pids pids=limit:pids
# Not promised: foreign:docker=docker-threads
import ctypes
import errno
import os
import time

for depth in range(80):
    try:
        if os.fork() > 0:
            time.sleep(4)
            os._exit(0)
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at fork", flush=True)
        os._exit(0)
ctypes.CDLL(None).prctl(15, b"dw-hold")
time.sleep(3)
