# SPDX-License-Identifier: Apache-2.0
#
# Tries to:     follow the root, the working folder and every descriptor of every
#               process that it sees
# Promise:      host-files
# Oracle:       secret
# Stops:        ENOENT=mount|landlock EACCES=capability|landlock
import errno
import glob
import os

flag = os.environ["DW_FLAG"]
own = "/proc/%d/" % os.getpid()
links = [p + flag for p in glob.glob("/proc/[0-9]*/root") + glob.glob("/proc/[0-9]*/cwd")]
links += [p for p in glob.glob("/proc/[0-9]*/fd/*") if not p.startswith(own)]
for path in links[:500]:
    try:
        print(os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 100))
    except OSError as e:
        if e.errno in (errno.ENOENT, errno.EACCES):
            print("stopped:", errno.errorcode[e.errno], "at", path)
