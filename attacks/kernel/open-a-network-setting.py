# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a setting of the kernel's network for writing
# Promise:  kernel-surface
# Control:  root
# Oracle:   held fd /proc/sys/net/ipv4/ip_forward
# Stops:    ENOENT=mount EACCES=landlock|capability
# Because:  nothing is written
import ctypes
import errno
import os
import time

try:
    os.open("/proc/sys/net/ipv4/ip_forward", os.O_WRONLY)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at open")
