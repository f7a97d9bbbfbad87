# SPDX-License-Identifier: Apache-2.0
#
# Tries to: make a file in every folder at the top of the tree
# Promise:  host-writes
# Oracle:   files
# Stops:    EROFS=mount EACCES=namespace|landlock ENOENT=mount|absent EPERM=landlock
# Because:  /tmp is left out, since a cell has one of its own
import errno
import os

places = ["/", "/etc", "/var/tmp", "/run", "/home", "/root", "/opt", "/usr/local/bin", "/dev"]
planted = ("DW_ETC", "DW_VAR", "DW_MNT", "DW_SRV")
places += [os.environ[name] for name in planted if name in os.environ]
for place in places:
    try:
        with open(os.path.join(place, os.environ["DW_NONCE"]), "w") as file:
            file.write("gotcha")
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at", place)
