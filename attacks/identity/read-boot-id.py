# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the boot id of the host
# Promise:  identity
# Oracle:   host boot-id
# Stops:    ENOENT=mount
# Not promised: process=process-sees-host
import errno

try:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        print(file.read())
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at boot_id")
