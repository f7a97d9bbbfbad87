# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open a file that its caller had open once more, through /dev/fd
# Promise:  host-files
# Control:  bare
# Oracle:   secret
# Stops:    ENOENT=absent

cat /dev/fd/9
cat /proc/self/fd/9
