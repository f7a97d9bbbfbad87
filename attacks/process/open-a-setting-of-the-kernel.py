# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a setting of the host's kernel for writing
# Promise:  kernel-surface
# Control:  root
# Oracle:   held fd /proc/sys/net
# Stops:    ENOENT=mount EACCES=landlock
# Because:  it writes nothing. A setting of the network, since that is one that root of the range may open
import ctypes
import errno
import os
import time

try:
    os.open("/proc/sys/net/ipv4/ip_default_ttl", os.O_WRONLY)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at ip_default_ttl")
