# SPDX-License-Identifier: Apache-2.0
"""On a kernel that lacks newer calls, or has a newer Landlock, cells are as strong or refused.

without.py removes system calls for dewar and for everything that it starts. The walls are
compared with those of a run under without.py that removes nothing, so that both have its
additional filter.
"""

import json
import os
import pathlib
import subprocess

import pytest

from e2e.conftest import merged_env
from e2e.helpers import assert_nothing_left, assert_success, brief

pytestmark = pytest.mark.privilege

WITHOUT = str(pathlib.Path(__file__).with_name("without.py"))
PYTHON = "/usr/bin/python3"

ALWAYS = {"pidfd_send_signal": "5.1", "pidfd_open": "5.3", "openat2": "5.6"}
FOR_A_ROOT = {"open_tree": "5.2", "move_mount": "5.2", "fsopen": "5.2", "fsconfig": "5.2",
              "fsmount": "5.2", "mount_setattr": "5.12"}
REPLACED = [["clone3"], ["close_range"], ["clone3", "close_range"]]

levels = pytest.mark.parametrize("level", ["container", "process"])


def call(missing, *command, landlock=None, **kwargs):
    claim = ["--landlock", str(landlock)] if landlock else []
    return subprocess.run([PYTHON, WITHOUT, *claim, *missing, "--", *map(str, command)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, check=False,
                          env=merged_env({"DEWAR_WARM": None}), **kwargs)


@pytest.fixture
def run_without(dewar):
    """run_without(missing, *args): the result of `dewar run --json *args` on such a kernel."""

    def run(missing, *args, **kwargs):
        done = call(missing, dewar, "run", "--json", *args, **kwargs)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run


# ---- calls without a substitute ----

@pytest.mark.parametrize("level", ["container", "process", "none", "docker"])
@pytest.mark.parametrize("name", ALWAYS)
def test_without_an_essential_call_nothing_runs(run_without, host_snapshot, level, name):
    before = host_snapshot()
    assert_refused(run_without([name], "--level", level, "python", "-c", "print(1)"), name,
                   ALWAYS[name])
    assert_nothing_left(host_snapshot, before)


@pytest.mark.parametrize("name", FOR_A_ROOT)
def test_without_a_mount_call_level_container_refuses(run_without, host_snapshot, name):
    before = host_snapshot()
    assert_refused(run_without([name], "python", "-c", "print(1)"), name, FOR_A_ROOT[name])
    assert_nothing_left(host_snapshot, before)


@pytest.mark.parametrize("name", FOR_A_ROOT)
def test_without_a_mount_call_level_process_is_unchanged(run_without, name):
    r = run_without([name], "--level", "container,process", "python", "-c", "print(1)")
    usual = run_without([], "--level", "process", "python", "-c", "print(1)")
    assert_success(r)
    assert (r["proof"]["achieved"], r["proof"]["walls"]) == ("process", usual["proof"]["walls"])


def assert_refused(r, name, since):
    assert (r["status"], r["reason"], r["stdout"]) == ("error", "unavailable", ""), brief(r)
    assert r["proof"]["achieved"] is None and r["proof"]["walls"] is None
    assert name + "()" in r["hint"] and "Linux %s or newer" % since in r["hint"], r["hint"]


# ---- calls with a substitute ----

@pytest.mark.nproc
@levels
@pytest.mark.parametrize("missing", REPLACED, ids=" ".join)
def test_the_walls_are_the_same_without_newer_calls(run_without, host_snapshot, level, missing):
    before = host_snapshot()
    args = ("--level", level, "python", "-c", "print(1)")
    usual, r = run_without([], *args), run_without(missing, *args)
    assert_success(usual)
    assert_success(r)
    assert r["proof"]["walls"] == usual["proof"]["walls"]
    assert r["proof"]["limits"] == usual["proof"]["limits"]
    assert_nothing_left(host_snapshot, before)


# Lists the open descriptors, without that of the listed folder itself.
OPEN = ("import os\nfor fd in os.listdir('/proc/self/fd'):\n"
        "    try: print(os.readlink('/proc/self/fd/' + fd))\n    except OSError: pass\n")


@pytest.mark.parametrize("level", ["container", "process", "none"])
@pytest.mark.parametrize("missing", [[], ["close_range"]], ids=["usual", "close_range"])
def test_no_descriptor_leaks(run_without, tmp_path, level, missing):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    # More than one getdents() of /proc/self/fd returns.
    held = [os.open(secret, os.O_RDONLY) for _ in range(300)]
    try:
        control = call(missing, PYTHON, "-c", OPEN, pass_fds=held)
        r = run_without(missing, "--level", level, "python", "-c", OPEN, pass_fds=held)
    finally:
        for fd in held:
            os.close(fd)
    assert control.stdout.count(str(secret).encode()) == 300
    assert_success(r)
    assert str(secret) not in r["stdout"] and "socket:" not in r["stdout"], r["stdout"]


@pytest.mark.parametrize("missing", REPLACED, ids=" ".join)
def test_a_workspace_is_readable_and_not_writable(run_without, tmp_path, missing):
    """For root the workspace is an id-mapped mount, which needs a cloned process."""
    tmp_path.chmod(0o700)
    (tmp_path / "in.txt").write_text("hello")
    code = ("print(open('/work/in.txt').read())\n"
            "try: open('/work/in.txt', 'w')\nexcept OSError as e: print(e.errno)\n")
    r = run_without(missing, "--workspace", tmp_path, "python", "-c", code)
    assert_success(r)
    assert r["stdout"] == "hello\n30\n"


# ---- Landlock ----

WRITE = "import sys\nopen(sys.argv[1], 'w').write('x')\n"


def test_a_newer_landlock_still_enforces_the_known_rights(run_without, tmp_path):
    target = tmp_path / "target"
    args = ("--level", "process", "python", "-c", WRITE, "--", target)
    newer = run_without([], *args, landlock=99)
    assert newer["proof"]["walls"]["landlock"] == {"abi": 99}
    assert newer["status"] == "error" and "PermissionError" in newer["stderr"], brief(newer)
    assert not target.exists()

    older = run_without(["landlock_create_ruleset"], *args)  # the control
    assert older["proof"]["walls"]["landlock"] is None
    assert_success(older)
    assert target.read_text() == "x"


@levels
@pytest.mark.parametrize("abi", [1, 2, 3, 5, 6, 99])
def test_every_landlock_version_works(run_without, level, abi):
    r = run_without([], "--level", level, "python", "-c", "print(1)", landlock=abi)
    usual = run_without([], "--level", level, "python", "-c", "print(1)")
    assert_success(r)
    assert r["proof"]["walls"] == {**usual["proof"]["walls"], "landlock": {"abi": abi}}


def test_without_landlock_a_list_of_commands_is_refused_at_level_process(run_without):
    r = run_without(["landlock_create_ruleset"], "--level", "process", "--allow-commands", "ls",
                    "bash", "-c", "ls")
    assert (r["status"], r["reason"]) == ("error", "unavailable"), brief(r)
    assert "Landlock" in r["hint"]


# ---- warm cells ----

def test_warm_cells_work_without_clone3(run_without):
    args = ("--warm", "fork", "python", "-c", "print(1)")
    usual, r = run_without([], *args), run_without(["clone3"], *args)
    assert_success(r)
    assert usual["metadata"]["warm"] and r["metadata"]["warm"]
    assert r["proof"]["walls"] == usual["proof"]["walls"]


def test_without_close_range_cells_are_cold_and_as_strong(run_without, host_snapshot):
    before = host_snapshot()
    r = run_without(["close_range"], "--warm", "fork", "python", "-c", OPEN)
    usual = run_without([], "python", "-c", OPEN)
    assert_success(r)
    assert r["metadata"]["warm"] is False
    assert r["proof"]["walls"] == usual["proof"]["walls"]
    assert "socket:" not in r["stdout"]
    assert_nothing_left(host_snapshot, before)
