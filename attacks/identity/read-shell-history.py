# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read what its caller typed, in the home folder that it finds
# Promise:  identity
# Oracle:   secret
# Stops:    ENOENT=mount|supervisor
# Because:  the home folder that a cell is told is a fresh one
import errno
import os

try:
    with open(os.path.expanduser("~/.bash_history"), encoding="utf-8") as file:
        print(file.read())
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at ~/.bash_history")
