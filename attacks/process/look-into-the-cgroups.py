# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open the tree of cgroups, where all others of the host are
# Promise:  host-files
# Oracle:   held fd /sys/fs/cgroup
# Stops:    ENOENT=mount EACCES=landlock
import ctypes
import errno
import os
import time

try:
    os.open("/sys/fs/cgroup", os.O_RDONLY)
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at /sys/fs/cgroup")
