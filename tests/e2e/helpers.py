# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests of cells: find a cell's processes, wait, and detect what a run left behind."""

import os
import pathlib
import tempfile
import time
import uuid

MARGIN_S = 10  # the longest delay of an answer on a busy host


def fresh_mark():
    """A unique argument for a program, by which it and its children are found."""
    return "mark-" + uuid.uuid4().hex


def alive(mark):
    """The pids of a cell's processes whose program got this mark, without dewar itself."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            argv = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if mark.encode() in argv and not argv[0].endswith(b"/dewar"):
            found.append(int(folder.name))
    return found


def has_cgroups():
    """Returns true if we can create cgroups: as root, or if systemd delegates cgroup v2."""
    controllers = pathlib.Path("/sys/fs/cgroup/cgroup.controllers")
    return os.geteuid() == 0 or (
        controllers.exists() and "memory" in controllers.read_text(encoding="ascii") and
        os.path.exists("/run/user/%d/systemd/private" % os.geteuid()))


def is_warm(level="container"):
    """Returns true if the suite runs in warm cells and the level supports them."""
    return level == "container" and bool(os.environ.get("DEWAR_WARM"))


def status_of(pid):
    """The fields of /proc/PID/status; empty if the process has ended."""
    try:
        text = pathlib.Path("/proc/%d/status" % pid).read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def name_of(pid):
    return status_of(pid).get("Name", "").strip()


def children_of(pid):
    found = set()
    try:
        for task in pathlib.Path("/proc/%d/task" % pid).glob("*/children"):
            found |= set(map(int, task.read_text(encoding="ascii").split()))
    except OSError:
        pass  # it has ended
    return found


def descendants(pid):
    """All descendants of a process."""
    found = children_of(pid)
    return found.union(*map(descendants, found))


def is_live(pid):
    return status_of(pid).get("State", "Z")[0] not in "ZX"


def ancestors(pid):
    found = set()
    while pid := int(status_of(pid).get("PPid", 0)):
        found.add(pid)
    return found


def ours_or_orphaned(names):
    """Our live descendants, and live processes of these names that descend from no test: the
    children of a killed process are inherited by one of our own ancestors."""
    ours = descendants(os.getpid())
    above = ancestors(os.getpid())
    orphaned = {pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                if name_of(pid) in names and
                all(one in above or name_of(one) in names for one in ancestors(pid))}
    return {pid for pid in ours | orphaned if is_live(pid)}


def in_cell_of(dewar_pid):
    """The pids of the program in the cell of a dewar, warm or cold, once it has its code.

    The command line of a warm program contains nothing of the caller's. Unlike the zygote it is
    one pid namespace deeper; unlike a program that still waits it has a file with its code;
    unlike the holder of its memory it has open files.
    """
    depth = len(status_of(os.getpid())["NSpid"].split()) + (2 if is_warm() else 1)
    found = []
    for pid in descendants(dewar_pid):
        ids = status_of(pid).get("NSpid", "").split()
        try:
            if len(ids) == depth and ids[-1] != "1" and os.listdir("/proc/%d/fd" % pid) and \
                    os.path.exists("/proc/%d/root/tmp/main.py" % pid):
                found.append(pid)
        except OSError:
            pass
    return found


def wait_until(condition, what, bound_s=60):
    """Wait until condition() returns something true, and return that."""
    deadline = time.monotonic() + bound_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "waited %g s in vain for %s" % (bound_s, what)
        time.sleep(0.01)


def new_in(after, before):
    """The items of a host_snapshot() that are not in an earlier one, as (kind, name)."""
    new = {(kind, str(item)) for kind in after for item in after[kind]}
    new -= {(kind, str(item)) for kind in before for item in before[kind]}
    return {(kind, item) for kind, item in new if not is_in_use(kind, item)}


def is_in_use(kind, item):
    """Returns true if the item belongs to a live dewar of another test."""
    if kind == "cgroups":  # its name contains the pid of its dewar
        words = os.path.basename(item).split("-")
        return len(words) > 2 and os.path.exists("/proc/" + words[2]) and \
            int(words[2]) not in descendants(os.getpid())
    if kind == "mounts" and item.startswith("/run/netns/"):  # test_network's, named by its pid
        return str(os.getpid()) not in item
    if kind == "folders" and os.path.basename(item).startswith("dewar-verify-"):
        theirs = set(map(int, filter(str.isdigit, os.listdir("/proc"))))
        theirs -= descendants(os.getpid())
        return any(name_of(pid) == "dewar-verify" for pid in theirs)
    return False


def assert_nothing_left(host_snapshot, before):
    """Items that other tests create and remove meanwhile are waited for."""
    deadline = time.monotonic() + 30
    left = new_in(host_snapshot(), before)
    while left:
        assert time.monotonic() < deadline, "left behind on the host: %r" % sorted(left)
        time.sleep(0.05)
        left &= new_in(host_snapshot(), before)


def assert_gone(result):
    """Folders and cgroups named after this run are removed before the result is returned."""
    assert not os.path.exists(os.path.join(tempfile.gettempdir(), "dewar-" + result["id"][:16]))
    left = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if result["id"] in folder]
    assert not left, "left behind on the host: %r" % left


def brief(result):
    """The parts of a result that explain a failed test."""
    keys = ("status", "reason", "hint", "exit_code", "signal", "execution_time_ms",
            "cpu_time_ms", "memory_used_mb")
    shown = {key: result.get(key) for key in keys}
    shown["stdout"] = (result.get("stdout") or "")[:300]
    shown["stderr"] = (result.get("stderr") or "")[-600:]
    return shown


def assert_ended(result, status, reason, *hint_words):
    """The hint contains all of these words, in any order."""
    assert (result["status"], result["reason"]) == (status, reason), brief(result)
    if status == "success":
        assert result["hint"] is None and result["exit_code"] == 0, brief(result)
    else:
        assert result["hint"], brief(result)
    for word in hint_words:
        assert word in result["hint"], "%r is not in the hint: %r" % (word, brief(result))


def assert_success(result):
    assert_ended(result, "success", "exit")
