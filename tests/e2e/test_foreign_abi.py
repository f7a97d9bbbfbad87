# SPDX-License-Identifier: Apache-2.0
"""In a cell a system call of another ABI kills the program: its numbers mean other calls.

tests/unit/test_seccomp_arch.c tests the filters of other machines.
"""

import platform
import signal
import subprocess
import sys

import pytest

from e2e.helpers import assert_success, brief

pytestmark = pytest.mark.privilege

GETPID_I386, GETPID_X32 = 20, 39 | 0x40000000

# int $0x80, from an executable page; or a number with the bit of x32.
CALLS = {
    "i386": "import ctypes, mmap\n"
            "page = mmap.mmap(-1, 4096, prot=7)\n"
            "page.write(b'\\xb8%c\\0\\0\\0\\xcd\\x80\\xc3')\n"
            "at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
            "ctypes.CFUNCTYPE(ctypes.c_int)(at)()\n"
            "print('back')\n" % GETPID_I386,
    "x32": "import ctypes\n"
           "ctypes.CDLL(None).syscall(ctypes.c_long(%d))\n"
           "print('back')\n" % GETPID_X32,
}


@pytest.mark.parametrize("level", ["container", "process"])
@pytest.mark.parametrize("abi", CALLS)
def test_a_foreign_call_kills(run_json, must, level, abi):
    must(platform.machine() == "x86_64", "these are the other machines in an x86_64")
    control = subprocess.run([sys.executable, "-c", CALLS[abi]], stdout=subprocess.PIPE,
                             timeout=60, check=False)
    must(control.returncode != -signal.SIGSEGV, "a kernel without calls of i386")
    assert (control.returncode, control.stdout) == (0, b"back\n")

    r = run_json("--level", level, "python", "-c", CALLS[abi])
    assert (r["status"], r["reason"], r["signal"]) == ("error", "seccomp", signal.SIGSYS), brief(r)
    assert "back" not in r["stdout"]
    assert_success(run_json("--level", level, "python", "-c", "print('back')"))
