# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send a signal to all processes at once
# Promise:  host-processes
# Oracle:   witness
# Stops:    ESRCH=namespace silence=namespace|landlock
# Because:  kill(-1) says success even if each single signal was refused, or if there is another process
#           in the cell; the witness reports whether it got one. The signal is one that programs ignore
import errno
import os
import signal

try:
    os.kill(-1, signal.SIGURG)
    print("stopped: silence at kill")
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at kill")
