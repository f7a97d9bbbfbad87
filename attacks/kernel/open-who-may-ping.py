# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open, for writing, the setting that says which groups may ping
# Promise:  kernel-surface
# Control:  root
# Oracle:   held fd /proc/sys/net/ipv4/ping_group_range
# Stops:    ENOENT=mount EACCES=landlock|capability
# Because:  nothing is written
import ctypes
import errno
import os
import time

try:
    os.open("/proc/sys/net/ipv4/ping_group_range", os.O_WRONLY)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at open")
