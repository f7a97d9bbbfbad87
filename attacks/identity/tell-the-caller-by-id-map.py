# SPDX-License-Identifier: Apache-2.0
#
# Tries to: learn its caller's number from the id map of its user namespace
# Promise:  identity
# Oracle:   host caller
# Stops:    another=namespace
# Not promised: process=process-same-user plain:container=caller-number
# Because:  each of root's cells has an id that no other cell has
import os

with open("/proc/self/uid_map", encoding="ascii") as file:
    for line in file:
        inside, outside, count = map(int, line.split())
        if inside <= os.getuid() < inside + count:
            print("caller", os.getuid() - inside + outside)
print("stopped: another at uid_map")
