# SPDX-License-Identifier: Apache-2.0
"""Hosts to be in, made of private namespaces: each a command to put in front of another.

As a program it puts a seccomp filter around a command: surroundings.py CALLS COMMAND...,
where CALLS is like "unshare=1,clone3=38", a system call and the errno that it gets.
"""

import ctypes
import os
import platform
import shlex
import struct
import sys

CALLS = {
    "x86_64": {"clone": 56, "mount": 165, "swapon": 167, "unshare": 272, "open_tree": 428, "fsopen": 430,
               "clone3": 435},
    "aarch64": {"clone": 220, "mount": 40, "swapon": 224, "unshare": 97, "open_tree": 428, "fsopen": 430,
                "clone3": 435},
}.get(platform.machine(), {})

LOAD_NR, JUMP_EQ, RETURN, ALLOW, ERRNO = 0x20, 0x15, 0x06, 0x7fff0000, 0x00050000
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2


def filtered(**refused):
    """The calls that a filter around us refuses, with which errno."""
    return [sys.executable, os.path.abspath(__file__),
            ",".join("%s=%d" % item for item in refused.items())]


def mounted(*script):
    """In a mount namespace, where the lines of script ran first."""
    return ["unshare", "--mount", "sh", "-ec", "\n".join([*script, 'exec "$@"']), "sh"]


def limited(name):
    """In a user namespace whose limit of that name is 0."""
    return ["unshare", "--user", "--map-root-user", "sh", "-ec",
            'echo 0 > /proc/sys/user/%s; exec "$@"' % name, "sh"]


def make_root(folder):
    """Lines that make a root in folder, of parts of ours; it is no mount itself."""
    folder = shlex.quote(folder)
    return ["mount -t tmpfs none %s" % folder, "cd %s" % folder, "mkdir root", "cd root",
            "mkdir dev etc mnt proc sys tmp usr", "chmod 1777 tmp",
            "for d in bin lib lib64 sbin; do ln -s usr/$d $d; done",
            "for d in dev proc sys usr; do mount --rbind /$d $d; done"]


def bind(path):
    """A line more: path of ours is at the same place in that root."""
    path = shlex.quote(path)
    return ["mkdir -p .%s" % path, "mount --rbind %s .%s" % (path, path)]


def load(refused):
    words = [struct.pack("HBBI", LOAD_NR, 0, 0, 0)]
    for name, errno in refused.items():
        words.append(struct.pack("HBBI", JUMP_EQ, 0, 1, CALLS[name]))
        words.append(struct.pack("HBBI", RETURN, 0, 0, ERRNO | errno))
    words.append(struct.pack("HBBI", RETURN, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(words))
    # struct sock_fprog
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(words),
                                                      ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or \
            libc.prctl(PR_SET_SECCOMP, MODE_FILTER, program, 0, 0) != 0:
        sys.exit("no filter: errno %d" % ctypes.get_errno())


if __name__ == "__main__":
    load({name: int(errno) for name, errno in (x.split("=") for x in sys.argv[1].split(","))})
    os.execvp(sys.argv[2], sys.argv[2:])
