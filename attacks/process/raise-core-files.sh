# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have its memory written to a core file, whose handler is the host's
# Promise:  limits
# Oracle:   held limits ^Max core file size +unlimited
# Stops:    EPERM=seccomp|rlimit

ln -s "$(command -v sleep)" dw-hold
ulimit -c unlimited && ./dw-hold 60
