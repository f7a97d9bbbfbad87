# SPDX-License-Identifier: Apache-2.0
#
# Tries to: outlive its deadline by sleeping
# Promise:  limits
# Control:  bare
# Options:  --timeout 700ms
# Oracle:   held comm ^dw-hold$
# Stops:    deadline=supervisor
# Because:  it calls itself dw-hold only after twice that time; level none has a
#           deadline, too
import ctypes
import time

time.sleep(1.4)
ctypes.CDLL(None).prctl(15, b"dw-hold")
time.sleep(3)
