# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open more files than its limit says, by raising the limit
# Promise:  limits
# Oracle:   held limits ^Max open files +600 +600
# Stops:    EPERM=rlimit
# Options:  --files 64
# Because:  only a process with CAP_SYS_RESOURCE on the host can raise the limit again
import ctypes
import resource
import time

try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (600, 600))
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except (ValueError, OSError):
    print("stopped: EPERM at setrlimit")
