# SPDX-License-Identifier: Apache-2.0
#
# Tries to: create a terminal, to type into it for another user (CVE-2017-5226)
# Promise:  kernel-surface
# Oracle:   held fd /dev/(pts/)?ptmx
# Stops:    ENOENT=mount EACCES=landlock
import ctypes
import errno
import os
import time

try:
    os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at /dev/ptmx")
