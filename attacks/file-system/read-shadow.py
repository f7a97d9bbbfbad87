# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the host's password hashes
# Promise:  host-files
# Oracle:   secret
# Stops:    ENOENT=mount EACCES=landlock docker:EACCES=mount
# Because:  what is refused in a container of an engine is the file of its image
import errno

try:
    print(open("/etc/shadow").read())
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at /etc/shadow")
