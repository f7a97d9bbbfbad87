# SPDX-License-Identifier: Apache-2.0
"""Runs inside a cell: inspects the walls, then tries to get past each. The control runs without
walls, as root, on the tester's machine: a successful attempt must not change anything.

The only argument is JSON with the targets that core.py created; the answer is JSON on stdout.
The answer of an attempt is 0 if it succeeded, else its errno.
"""

import ctypes
import errno
import json
import os
import platform
import socket
import sys

TARGET = json.loads(sys.argv[1])
LIBC = ctypes.CDLL(None, use_errno=True)
NEWUSER = 0x10000000
PTRACE_TRACEME, PTRACE_SEIZE, PTRACE_DETACH = 0, 0x4206, 17
GET_NO_NEW_PRIVS = 39
SHMGET = {"x86_64": 29, "aarch64": 194}[platform.machine()]
KEYCTL = {"x86_64": 250, "aarch64": 219}[platform.machine()]


def call(name, *args):
    return ctypes.get_errno() if getattr(LIBC, name)(*args) < 0 else 0


def attempt(what):
    try:
        what()
    except OSError as problem:
        return problem.errno or -1
    return 0


def in_child(what):
    """Run an attempt in a child, because it would change its process."""
    pid = os.fork()
    if pid == 0:
        os._exit(min(what(), 255))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def connect(kind, address):
    with socket.socket(kind) as s:
        s.settimeout(5)
        s.connect(address)


def seize():
    got = call("ptrace", PTRACE_SEIZE, TARGET["pid"], None, None)
    if got == 0:
        call("ptrace", PTRACE_DETACH, TARGET["pid"], None, None)
    return got


def new_user():
    return call("unshare", NEWUSER)


def mount_nothing():
    """The type does not exist: the kernel checks permission first, and then mounts nothing."""
    got = call("mount", b"none", b"/tmp", b"no-such-file-system", 0, None)
    return 0 if got == errno.ENODEV else got


def change_root():
    return attempt(lambda: os.chroot("/"))


def write(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("was here")


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def write_root():
    if TARGET["control"]:
        return -1  # the root there belongs to the host
    path = "/dewar-hosts-probe"
    got = attempt(lambda: write(path))
    remove(path)
    return got


ATTEMPTS = {
    "read the secret": lambda: attempt(lambda: read(TARGET["secret"])),
    "write beside the secret": lambda: attempt(lambda: write(TARGET["beside"])),
    "write into the root": write_root,
    "connect to the host": lambda: attempt(
        lambda: connect(socket.AF_INET, ("127.0.0.1", TARGET["port"]))),
    "connect to an abstract socket": lambda: attempt(
        lambda: connect(socket.AF_UNIX, "\0" + TARGET["name"])),
    "find the host's shared memory": lambda: call("syscall", SHMGET, TARGET["shm"], 0, 0),
    "see a process": lambda: attempt(lambda: read("/proc/%d/status" % TARGET["pid"])),
    "signal a process": lambda: attempt(lambda: os.kill(TARGET["pid"], 0)),
    "trace a process": seize,
    "trace a child": lambda: in_child(lambda: call("ptrace", PTRACE_TRACEME, 0, None, None)),
    "make a user namespace": lambda: in_child(new_user),
    "mount": mount_nothing,
    "change the root": lambda: in_child(change_root),
    "watch files": lambda: call("inotify_init1", 0),
    "use the keyring": lambda: call("syscall", KEYCTL, 0, -3, 0),
}


def look():
    status = dict(line.split(":\t", 1) for line in read("/proc/self/status").splitlines()
                  if ":\t" in line)
    return {
        "namespaces": {name: os.readlink("/proc/self/ns/" + file) for name, file in
                       (("user", "user"), ("mount", "mnt"), ("pid", "pid"), ("net", "net"),
                        ("ipc", "ipc"), ("uts", "uts"), ("cgroup", "cgroup"))},
        "capabilities": {name: status[field].strip() for name, field in
                         (("effective", "CapEff"), ("permitted", "CapPrm"),
                          ("inheritable", "CapInh"), ("bounding", "CapBnd"),
                          ("ambient", "CapAmb"))},
        "no_new_privs": LIBC.prctl(GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
        "seccomp": {"mode": int(status["Seccomp"]),
                    "filters": int(status.get("Seccomp_filters", -1))},
        "root_read_only": bool(os.statvfs("/").f_flag & os.ST_RDONLY),
        "interfaces": len({name for _, name in socket.if_nameindex()} - {"lo"}),
        "uid": os.getuid(), "gid": os.getgid(),
    }


print(json.dumps({"seen": look(), "tried": {name: what() for name, what in ATTEMPTS.items()}}))
