# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find another cell's folder beside its own
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    unseen=mount EACCES=landlock
# Because:  "unseen" is what it says if the parent folder can be listed, and
#           nothing of the other cell is there
import ctypes
import errno
import os
import time

name = os.environ["DW_NONCE"]
found = False
if os.environ["DW_ROLE"] == "first":
    with open(name, "w") as file:
        file.write(os.environ["DW_SECRET"])
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(3)
else:
    try:
        for folder in os.listdir(".."):
            if os.path.exists("../%s/%s" % (folder, name)):
                found = True
                print(open("../%s/%s" % (folder, name)).read())
        if not found:
            print("stopped: unseen at ..")
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at ..")
