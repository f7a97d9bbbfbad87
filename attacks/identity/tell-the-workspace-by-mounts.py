# SPDX-License-Identifier: Apache-2.0
#
# Tries to: learn what the folder that is shown to it is called on the host
# Promise:  identity
# Options:  --workspace {base}/names/project
# Oracle:   secret
# Stops:    hidden=mount
# Not promised: process=shown-places container=shown-places docker=shown-places
import os

print(os.getcwd())
with open("/proc/self/mountinfo", encoding="utf-8") as file:
    print(file.read())
print("stopped: hidden at mountinfo")
