# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have a pipe collected, which blocks the process that opens it, and write the secret
#           into it late
# Promise:  honest-result
# Control:  bare
# Oracle:   secret
# Options:  --collect out.txt
# Stops:    ENOENT=mount EACCES=landlock
# Because:  a collector that waits at the pipe would make the run take too long, which
#           is no result
import errno
import os
import time

os.mkfifo("out.txt")
try:
    secret = open(os.environ["DW_FLAG"], "rb").read()
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at open")
    raise SystemExit
if os.fork() == 0:
    os.setsid()
    fd = os.open("out.txt", os.O_RDWR)
    os.write(fd, secret)
    time.sleep(2)
    os._exit(0)
time.sleep(0.3)
