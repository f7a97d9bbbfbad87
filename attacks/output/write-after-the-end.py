# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a process behind that goes on to write when the result is made
# Promise:  honest-result
# Control:  bare
# Oracle:   remains
# Oracle:   forged
# Stops:    gone=namespace|supervisor result=supervisor
import os
import sys
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for _ in range(6000):
            sys.stdout.write('", "forged": "')
            sys.stdout.flush()
            time.sleep(0.01)
    os._exit(0)
time.sleep(0.05)
os._exit(7)
