# SPDX-License-Identifier: Apache-2.0
"""Imitate other hosts with private namespaces: each function returns a command prefix.

As a program it runs a command with a seccomp filter: surroundings.py CALLS COMMAND...,
where CALLS lists system calls and the errno that they return, such as "unshare=1,clone3=38".
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
    """A prefix with a seccomp filter: refused maps each system call to its errno."""
    return [sys.executable, os.path.abspath(__file__),
            ",".join("%s=%d" % item for item in refused.items())]


def mounted(*script):
    """A prefix that enters a new mount namespace and first runs these lines of shell there."""
    return ["unshare", "--mount", "sh", "-ec", "\n".join([*script, 'exec "$@"']), "sh"]


def limited(name):
    """A prefix that enters a user namespace in which the limit of that name is 0."""
    return ["unshare", "--user", "--map-root-user", "sh", "-ec",
            'echo 0 > /proc/sys/user/%s; exec "$@"' % name, "sh"]


def make_root(folder):
    """Lines that make a root in folder from parts of the host's; folder itself is not a mount."""
    folder = shlex.quote(folder)
    return ["mount -t tmpfs none %s" % folder, "cd %s" % folder, "mkdir root", "cd root",
            "mkdir dev etc mnt proc sys tmp usr", "chmod 1777 tmp",
            "for d in bin lib lib64 sbin; do ln -s usr/$d $d; done",
            "for d in dev proc sys usr; do mount --rbind /$d $d; done"]


def bind(path):
    """A line that binds the host's path to the same place in that root."""
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
