# SPDX-License-Identifier: Apache-2.0
#
# Tries to: start a program at addresses that are known beforehand, as debuggers do (setarch)
# Promise:  kernel-surface
# Oracle:   held personality ^00040000
# Stops:    EPERM=seccomp

ln -s "$(command -v sleep)" dw-hold
setarch --addr-no-randomize ./dw-hold 60
