# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read what is mounted where on the host
# Promise:  identity
# Oracle:   secret
# Stops:    own=mount
# Not promised: process=process-sees-host
# Because:  the table of mounts is that of the cell's own namespace, whose root is a tmpfs, or
#           the layers of an image
for name in ("mounts", "mountstats", "mountinfo"):
    with open("/proc/self/" + name, encoding="utf-8") as file:
        lines = file.readlines()
    print(*lines)
if any(line.split()[4] == "/" and (" - tmpfs " in line or " - overlay " in line)
       for line in lines):
    print("stopped: own at mountinfo")
