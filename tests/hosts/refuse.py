#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""refuse.py namespaces|landlock COMMAND...: run a command with a seccomp filter. Needs root, to
install it without no_new_privs.

namespaces: as in container runtimes, unshare() and clone() with a flag for a namespace fail with
EPERM, and clone3(), whose flags a filter cannot inspect, with ENOSYS.
landlock: as on a kernel without Landlock, its calls fail with ENOSYS.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

SET_SECCOMP, MODE_FILTER = 22, 2
ALLOW, ERRNO = 0x7fff0000, 0x00050000
LOAD, JEQ, JSET, RET = 0x20, 0x15, 0x45, 0x06
NR, ARCH, ARG0 = 0, 4, 16
NAMESPACES = 0x7e020080  # NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME
CALLS = {"x86_64": (0xc000003e, 272, 56), "aarch64": (0xc00000b7, 97, 220)}
CLONE3 = 435
LANDLOCK = 444, 445, 446


def begin(arch):
    return [(LOAD, 0, 0, ARCH), (JEQ, 1, 0, arch), (RET, 0, 0, ERRNO | errno.EPERM),
            (LOAD, 0, 0, NR)]


def no_landlock():
    arch = CALLS[platform.machine()][0]
    each = [((JEQ, 0, 1, call), (RET, 0, 0, ERRNO | errno.ENOSYS)) for call in LANDLOCK]
    return [*begin(arch), *(line for pair in each for line in pair), (RET, 0, 0, ALLOW)]


def no_namespaces():
    arch, unshare, clone = CALLS[platform.machine()]
    eperm, enosys = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
    return [
        *begin(arch),
        (JEQ, 0, 1, unshare), (RET, 0, 0, eperm),
        (JEQ, 0, 1, CLONE3), (RET, 0, 0, enosys),
        (JEQ, 1, 0, clone), (RET, 0, 0, ALLOW),
        (LOAD, 0, 0, ARG0), (JSET, 0, 1, NAMESPACES), (RET, 0, 0, eperm),
        (RET, 0, 0, ALLOW),
    ]


PROGRAMS = {"namespaces": no_namespaces, "landlock": no_landlock}


def main():
    lines = PROGRAMS[sys.argv[1]]()
    code = b"".join(struct.pack("=HBBI", op, yes, no, k) for op, yes, no, k in lines)
    held = ctypes.create_string_buffer(code, len(code))
    prog = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_SECCOMP, MODE_FILTER, prog, 0, 0) < 0:
        sys.exit("refuse.py: %s" % os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
