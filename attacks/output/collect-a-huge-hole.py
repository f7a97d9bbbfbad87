# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have a file collected that says it is a terabyte, and is a hole
# Promise:  honest-result
# Control:  bare
# Oracle:   forged
# Options:  --collect out.txt --collect *.log
# Stops:    result=supervisor collect=supervisor EFBIG=rlimit ENOSPC=mount
import errno
import os
import sys

sys.stdout.write('", "forged": "')
for name in ["out.txt"] + ["%d.log" % i for i in range(100)]:
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    try:
        os.ftruncate(fd, 1 << 40)
    except OSError as e:
        os.unlink(name)
        print("stopped:", errno.errorcode[e.errno], "at ftruncate")
    os.close(fd)
sys.exit(7)
