# SPDX-License-Identifier: Apache-2.0
"""Remove each rule of the seccomp filter: its unit test must fail.

Some of the many rules stop calls that no attack can demonstrate on every host.
tests/unit/test_seccomp.c tries each rule against the kernel; this test shows that
it notices the absence of any one.
"""

import ctypes
import errno
import os
import platform
import re
import subprocess

import pytest

from escape.mutate import ROOT

TABLE = os.path.join(ROOT, "src", "init", "seccomp_table.h")
RULE = re.compile(r'\n\t\{"[a-z0-9_]+",.*?\},(?=\n)', re.DOTALL)
# System calls that an old kernel or libseccomp may lack, with their numbers.
NEW = {"fchmodat2": 452}


def parts():
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    begin = text.index("dw_seccomp_arguments[] = {")
    end = text.index("\n};", begin)
    return text[:begin], text[begin:end], text[end:]


HEAD, RULES, TAIL = parts()


def title(match):
    return "-".join(re.findall(r"[A-Za-z0-9_]+", match.group(0)))[:60]


def is_there(name):
    """Returns true if both libseccomp and the kernel know this call."""
    if ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name(name.encode()) < 0:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(NEW[name], -1, None, 0, 0) == 0 or ctypes.get_errno() != errno.ENOSYS


def build(argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def run_unit_test(folder, table):
    """The exit status of the unit test of a filter made from this table."""
    ours = ["-D_GNU_SOURCE", "-I%s" % folder, "-I%s/src" % ROOT, "-I%s/include" % ROOT,
            "-I%s/tests" % ROOT]
    (folder / "init").mkdir()
    (folder / "init" / "seccomp_table.h").write_text(table, encoding="utf-8")
    build(["cc", *ours, ROOT + "/tools/seccomp-gen.c", "-lseccomp", "-o", folder / "gen"])
    made = build([folder / "gen", platform.machine()])
    (folder / "seccomp_filter.h").write_text(made, encoding="utf-8")
    build(["cc", "-w", *ours, ROOT + "/tests/unit/test_seccomp.c", ROOT + "/src/init/seccomp.c",
           ROOT + "/src/base/error.c", "-lcmocka", "-lpthread", "-o", folder / "test"])
    return subprocess.run([folder / "test"], capture_output=True, check=False).returncode


def test_with_all_rules_it_passes(tmp_path):
    assert run_unit_test(tmp_path, HEAD + RULES + TAIL) == 0


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULE.finditer(RULES), ids=title)
def test_a_missing_rule_is_noticed(rule, tmp_path):
    name = re.search(r'"([a-z0-9_]+)"', rule.group(0)).group(1)
    if name in NEW and not is_there(name):
        pytest.skip("%s does not exist here, with or without its rule" % name)
    table = HEAD + RULES[:rule.start()] + RULES[rule.end():] + TAIL
    assert run_unit_test(tmp_path, table) != 0
