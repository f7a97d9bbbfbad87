#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Run a command as on another kernel: without.py [--landlock ABI] [CALL...] -- COMMAND...

For the command and all its descendants each CALL fails with ENOSYS, by a seccomp filter.
With --landlock this program answers queries for Landlock's ABI version; all other calls go
to the kernel. As root it does not set no_new_privs, so that the command keeps its privileges.
"""

import array
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import sys

LD_ABS, JEQ, RET = 0x20, 0x15, 0x06
NR, THIRD_ARGUMENT = 0, 32  # in struct seccomp_data
ALLOW, NOTIFY, ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000
SET_MODE_FILTER, NEW_LISTENER = 1, 8
SET_NO_NEW_PRIVS = 38
CREATE_RULESET_VERSION = 1
RECEIVE, SEND = 0xC0502100, 0xC0182101

libc = ctypes.CDLL(None, use_errno=True)
libseccomp = ctypes.CDLL("libseccomp.so.2")


def number(name):
    nr = libseccomp.seccomp_syscall_resolve_name(name.encode())
    if nr < 0:
        sys.exit("without.py: %s is no call of this machine" % name)
    return nr


def program(missing, asked):
    code = [(LD_ABS, 0, 0, NR)]
    for name in missing:
        code += [(JEQ, 0, 1, number(name)), (RET, 0, 0, ERRNO | errno.ENOSYS)]
    if asked:
        code += [(JEQ, 0, 3, number("landlock_create_ruleset")), (LD_ABS, 0, 0, THIRD_ARGUMENT),
                 (JEQ, 0, 1, CREATE_RULESET_VERSION), (RET, 0, 0, NOTIFY)]
    return b"".join(struct.pack("HBBI", *step) for step in [*code, (RET, 0, 0, ALLOW)])


def load(code, flags):
    if os.geteuid() != 0 and libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0:
        sys.exit("without.py: prctl: " + os.strerror(ctypes.get_errno()))
    buf = ctypes.create_string_buffer(code, len(code))
    prog = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buf))
    fd = libc.syscall(number("seccomp"), SET_MODE_FILTER, flags, prog)
    if fd < 0:
        sys.exit("without.py: seccomp: " + os.strerror(ctypes.get_errno()))
    return fd


def answer(listener, value):
    asked = bytearray(80)
    try:
        fcntl.ioctl(listener, RECEIVE, asked)
        fcntl.ioctl(listener, SEND, struct.pack("QqiI", struct.unpack_from("Q", asked)[0], value, 0, 0))
    except FileNotFoundError:
        pass  # the querying process has ended


def claim(abi, code, command):
    """Run the command and answer its queries for the ABI version; returns its exit status."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        listener = load(code, NEW_LISTENER)
        theirs.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener]))])
        os.close(listener)
        theirs.close()
        os.execvp(command[0], command)
    theirs.close()
    _, control, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(4))
    listener = array.array("i", control[0][2])[0]
    child = os.pidfd_open(pid)
    while True:
        ready, _, _ = select.select([listener, child], [], [])
        if child in ready:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        answer(listener, abi)


def main(words):
    abi = 0
    if words[:1] == ["--landlock"]:
        abi, words = int(words[1]), words[2:]
    at = words.index("--")
    missing, command = words[:at], words[at + 1:]
    if abi:
        sys.exit(claim(abi, program(missing, True), command))
    load(program(missing, False), 0)
    os.execvp(command[0], command)


main(sys.argv[1:])
