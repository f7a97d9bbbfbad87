# SPDX-License-Identifier: Apache-2.0
"""Cgroup v2: the kernel enforces the limits, wherever the cell's cgroup is.

Runs on hosts with cgroup v2 (tests/hosts boots some), as root and as a plain user, with and
without systemd. Compares the proof with the cgroup files of a running cell.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from e2e.helpers import (MARGIN_S, assert_ended, assert_success, brief, fresh_mark, has_cgroups,
                         wait_until)

pytestmark = [pytest.mark.core, pytest.mark.cold, pytest.mark.privilege]

ROOT = pathlib.Path("/sys/fs/cgroup")
MB = 1 << 20
WAIT_S = 60  # an emulated host is slow


@pytest.fixture(autouse=True)
def unified(must):
    path = ROOT / "cgroup.controllers"
    must(path.exists() and "memory" in path.read_text(), "this host has no cgroup version 2")
    must(has_cgroups(), "no group of version 2 is this user's")


@pytest.fixture
def has_systemd(must, is_root):
    must(os.path.isdir("/run/systemd/system") and is_root and shutil.which("systemd-run"),
         "needs systemd, and root to create units")


def group_of(pid):
    """The folder of a process's cgroup."""
    line = pathlib.Path("/proc/%s/cgroup" % pid).read_text(encoding="utf-8").strip()
    return ROOT / line.split("::", 1)[1].lstrip("/")


def marked(mark):
    """Processes of a cell with this word on their command line, by pid."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            argv = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in argv and b"-c" not in argv:
            found.append(int(folder.name))
    return found


SLEEPS = "import time\nprint('on', flush=True)\ntime.sleep(120)"


@pytest.fixture
def running(dewar, tmp_path):
    """running(code, *options): a dewar, and the pid of its program once it runs."""
    started = []

    def start(code, *options, prefix=()):
        mark = fresh_mark()
        with open(tmp_path / "out.json", "wb") as out:
            process = subprocess.Popen(
                [*prefix, dewar, "run", "--json", "--timeout", "100", *options, "python", "-c",
                 code, "--", mark], stdin=subprocess.DEVNULL, stdout=out)
        started.append(process)
        pid = wait_until(lambda: [p for p in marked(mark) if process.poll() is not None or p],
                       "the program in its cell")[0]
        assert process.poll() is None, (tmp_path / "out.json").read_text()
        return process, pid, mark

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()
            process.wait(WAIT_S)


def ours_left(pid):
    """The cgroups of a dewar that still exist."""
    return [os.path.join(folder, name) for folder, names, _ in os.walk(ROOT) for name in names
            if name.startswith("dewar-") and "-%d-" % pid in name]


# ---- what is held ----

def test_the_kernel_holds_what_the_proof_claims(run_json):
    r = run_json("--memory", "64M", "--cpus", "0.3", "--pids", "7", "python", "-c", "print(1)")
    assert_success(r)
    limits = r["proof"]["limits"]
    assert {n: (limits[n]["by"], limits[n]["enforced"], limits[n]["kernel"])
            for n in ("memory", "cpu", "pids")} == {
        "memory": ("cgroup2", True, 64 * MB), "cpu": ("cgroup2", True, 30),
        "pids": ("cgroup2", True, 7)}


READS = """
import os, sys, time
begun, n = time.monotonic(), 0
for folder, _, names in os.walk("/usr/lib"):
    for name in names:
        try:
            fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        n += len(os.read(fd, 1 << 20))
        os.close(fd)
        if n > 8 << 20:
            print(time.monotonic() - begun)
            sys.exit()
"""


@pytest.fixture
def with_io(run_json, must):
    """Options for a limit on disks, where the host can enforce one."""
    options = ["--io", "1M"]
    r = run_json(*options, "python", "-c", "print(1)")
    must(r["status"] == "success" or "io_mbps" not in json.dumps(r),
         "the io controller is not delegated, or the disk cannot be determined: %s" % brief(r))
    return options


def test_a_disk_is_read_no_faster_than_the_limit(run_json, with_io):
    """Only a minimum time is checked: a busy host is slower, and never faster."""
    free = run_json("--timeout", "60", "python", "-c", READS)
    assert_success(free)
    assert "io" not in free["proof"]["limits"]
    held = run_json("--timeout", "60", *with_io, "python", "-c", READS)
    assert_success(held)
    limit = held["proof"]["limits"]["io"]
    assert (limit["by"], limit["enforced"], limit["kernel"]) == ("cgroup2", True, MB)
    # Files that other processes keep open stay cached and are not read from a disk.
    assert float(held["stdout"]) > max(2, 1.5 * float(free["stdout"])), (held["stdout"],
                                                                          free["stdout"])


def test_the_disk_limit_is_in_io_max(running, with_io):
    _, pid, _ = running(SLEEPS, *with_io)
    lines = (group_of(pid) / "io.max").read_text().splitlines()
    assert lines and all("rbps=%d wbps=%d" % (MB, MB) in line for line in lines), lines


def test_the_files_of_the_cgroup_contain_the_limits(running):
    _, pid, _ = running(SLEEPS, "--memory", "64M", "--cpus", "0.3", "--pids", "7")
    group = group_of(pid)
    assert group.name.startswith("dewar-"), group
    read = lambda name: (group / name).read_text().strip()
    assert read("memory.max") == str(64 * MB)
    assert read("memory.oom.group") == "1"
    assert read("cpu.max") == "30000 100000"
    assert read("pids.max") == "8"  # and init
    if (group / "memory.swap.max").exists():
        assert read("memory.swap.max") == "0"
    # The whole cell is in it: program and init.
    assert len(read("cgroup.procs").split()) >= 2


def test_a_cell_sees_itself_at_the_top(run_json):
    """The cgroup namespace was created inside the cell's cgroup, which hides its parents."""
    r = run_json("--level", "container", "python", "-c", "print(open('/proc/self/cgroup').read())")
    assert_success(r)
    assert r["stdout"].split() == ["0::/"], r["stdout"]


@pytest.mark.parametrize("level", ["container", "process"])
def test_the_cgroup_enforces_the_memory_limit(run_json, level):
    code = "x = b'x' * (100 << 20)\nprint(len(x))"
    r = run_json("--level", level, "--memory", "48M", "python", "-c", code)
    assert_ended(r, "resource_exceeded", "oom", "48 MB", "--memory", "memory_mb")
    assert r["memory_used_mb"] > 40, brief(r)
    r = run_json("--level", level, "--memory", "200M", "python", "-c", code)
    assert_success(r)
    assert 100 < r["memory_used_mb"] <= 200, brief(r)


@pytest.mark.parametrize("level", ["container", "process"])
def test_the_cgroup_enforces_the_process_limit(run_json, level):
    code = ("import os, time\nfor i in range(12):\n    if os.fork() == 0:\n"
            "        time.sleep(3)\n        os._exit(0)\nprint('all')\n")
    r = run_json("--level", level, "--pids", "6", "python", "-c", code)
    assert_ended(r, "resource_exceeded", "pids", "limit of 6 ", "--pids", "limits.pids")
    assert_success(run_json("--level", level, "--pids", "20", "python", "-c", code))


def test_cpu_is_throttled(running):
    _, pid, _ = running("print('on', flush=True)\nwhile True: pass", "--cpus", "0.2")
    stat = group_of(pid) / "cpu.stat"

    def throttled():
        return int(dict(line.split() for line in stat.read_text().splitlines())["nr_throttled"])

    wait_until(throttled, "the kernel holding it back")


# ---- where we are, and what is left ----

def test_no_other_process_is_moved(dewar, run_json):
    """The caller and its other children stay in their cgroup; only dewar may be moved."""
    before = group_of("self")
    assert_success(run_json("python", "-c", "print(1)"))
    done = subprocess.run(["sh", "-c", '"$0" run python -c "print(1)"; cat /proc/self/cgroup', dewar],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    assert group_of("self") == before
    assert ROOT / done.stdout.decode().split("::", 1)[1].strip().lstrip("/") == before


def test_nothing_is_left_behind(running):
    process, pid, mark = running(SLEEPS)
    assert ours_left(process.pid)  # the control: it is found while it exists
    process.send_signal(signal.SIGTERM)
    process.wait(WAIT_S)
    assert not marked(mark)
    wait_until(lambda: not ours_left(process.pid), "its groups to go")


def test_killing_dewar_ends_the_cell_and_removes_its_cgroup(running, run_json):
    process, pid, mark = running(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\nprint('on', flush=True)\n"
        "time.sleep(120)")
    process.kill()
    process.wait(WAIT_S)
    wait_until(lambda: not marked(mark), "the cell to end")

    def swept():
        assert_success(run_json("python", "-c", "print(1)"))
        return not ours_left(process.pid)

    wait_until(swept, "its groups to go")


def test_a_delegated_unit_is_split_into_dewar_and_cells(has_systemd, dewar, running):
    unit = "test-%s.service" % fresh_mark()[5:17]
    process, pid, _ = running(SLEEPS, prefix=[
        "systemd-run", "-q", "--wait", "--pipe", "--collect", "--unit=" + unit, "-p",
        "Delegate=yes"])
    cell = group_of(pid)
    assert cell.parent.name == unit, cell
    assert (cell.parent / "cgroup.procs").read_text() == ""
    own, = [d for d in cell.parent.iterdir() if d.name.endswith("-own")]
    assert len((own / "cgroup.procs").read_text().split()) == 1
    subprocess.run(["systemctl", "stop", unit], check=True, timeout=WAIT_S)
    wait_until(lambda: not cell.parent.exists(), "the unit to go")


def test_other_processes_of_a_delegated_unit_are_not_moved(has_systemd, dewar):
    unit = "test-%s.service" % fresh_mark()[5:17]
    done = subprocess.run(
        ["systemd-run", "-q", "--wait", "--pipe", "--collect", "--unit=" + unit, "-p",
         "Delegate=yes", "sh", "-c",
         '"$0" run --json python -c "print(1)"; cat /proc/self/cgroup', dewar],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=WAIT_S)
    result, group = done.stdout.decode().splitlines()
    result = json.loads(result)
    assert_success(result)
    assert result["proof"]["limits"]["memory"]["by"] == "cgroup2", brief(result)
    assert group.endswith("/" + unit), group


# ---- the manager that creates our cgroup ----

@pytest.fixture
def must_ask(must):
    must(os.path.isdir("/run/systemd/system"), "needs systemd, which creates scopes")


@pytest.mark.parametrize("helper", ["/nonexistent", "/bin/false", "silent"])
def test_a_failing_systemd_is_reported(must_ask, run_json, tmp_path, helper):
    """The run continues without delay, and its proof claims no cgroup."""
    if helper == "silent":
        helper = str(tmp_path / "silent")
        pathlib.Path(helper).write_text("#!/bin/sh\nexec sleep 1000\n")
        os.chmod(helper, 0o755)
    started = time.monotonic()
    r = run_json("python", "-c", "print(1)", env={"DEWAR_SCOPE": helper})
    assert_success(r)
    assert time.monotonic() - started < 20 + MARGIN_S
    limits = r["proof"]["limits"]
    assert limits["memory"]["by"] == "sampling" and "no memory cgroup" in limits["memory"]["note"]
    assert limits["cpu"]["enforced"] is False
    assert limits["pids"]["by"] in ("rlimit", "sampling")
