# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find what else is open, and read it by its name in /proc/self/fd
# Promise:  host-files
# Control:  bare
# Oracle:   secret
# Stops:    nothing=absent
# Because:  the launcher closes everything before it starts the program
import os

found = False
for name in os.listdir("/proc/self/fd"):
    try:
        if int(name) > 2:
            with open("/proc/self/fd/" + name, encoding="latin-1") as file:
                print(name, file.read(100))
                found = True
    except OSError:
        pass
if not found:
    print("stopped: nothing at /proc/self/fd")
