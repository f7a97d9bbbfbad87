# SPDX-License-Identifier: Apache-2.0
"""What tests of cells share: telling cells apart, waiting, saying what is left."""

import os
import pathlib
import tempfile
import time
import uuid

MARGIN_S = 10  # how late an answer may be on a host that is busy


def fresh_mark():
    """An argument for a program, by which it and its children are known."""
    return "mark-" + uuid.uuid4().hex


def alive(mark):
    """The processes of a cell whose program got this mark, by pid; not dewar."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            argv = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended since
        if mark.encode() in argv and not argv[0].endswith(b"/dewar"):
            found.append(int(folder.name))
    return found


def has_cgroups():
    """May we have groups of our own? Root may; others where systemd hands out version 2's."""
    controllers = pathlib.Path("/sys/fs/cgroup/cgroup.controllers")
    return os.geteuid() == 0 or (
        controllers.exists() and "memory" in controllers.read_text(encoding="ascii") and
        os.path.exists("/run/user/%d/systemd/private" % os.geteuid()))


def is_warm(level="container"):
    """Is the suite run in warm cells, where the level has any?"""
    return level == "container" and bool(os.environ.get("DEWAR_WARM"))


def status_of(pid):
    """What /proc says of a process, by field; nothing, if it has ended."""
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
        pass  # it has ended since
    return found


def descendants(pid):
    """The children of a process, theirs, and so on."""
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
    """The live processes below us, and those with these names below no test: what one that was
    killed has left belongs to an ancestor that we have as well."""
    ours = descendants(os.getpid())
    above = ancestors(os.getpid())
    orphaned = {pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                if name_of(pid) in names and
                all(one in above or name_of(one) in names for one in ancestors(pid))}
    return {pid for pid in ours | orphaned if is_live(pid)}


def in_cell_of(dewar_pid):
    """The program in the cell of a dewar, warm or cold, once its code is there, by pid.

    A warm one has nothing of its caller's on its command line. It is told from the zygote by
    being a namespace deeper, from one that still waits by the file with its code, and from who
    holds its memory by having files open.
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
    """What condition() returns, as soon as that is true."""
    deadline = time.monotonic() + bound_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "waited %g s in vain for %s" % (bound_s, what)
        time.sleep(0.01)


def new_in(after, before):
    """What a host_snapshot() has that an earlier one had not, as (kind, name)."""
    new = {(kind, str(item)) for kind in after for item in after[kind]}
    new -= {(kind, str(item)) for kind in before for item in before[kind]}
    return {(kind, item) for kind, item in new if not is_in_use(kind, item)}


def is_in_use(kind, item):
    """Does it belong to a dewar of another test's, which is alive?"""
    if kind == "cgroups":  # its name tells which dewar made it
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
    """Others may run cells here as well: what is theirs comes and goes."""
    deadline = time.monotonic() + 30
    left = new_in(host_snapshot(), before)
    while left:
        assert time.monotonic() < deadline, "left behind on the host: %r" % sorted(left)
        time.sleep(0.05)
        left &= new_in(host_snapshot(), before)


def assert_gone(result):
    """What can be told by its name to be of this very run is gone at once."""
    assert not os.path.exists(os.path.join(tempfile.gettempdir(), "dewar-" + result["id"][:16]))
    left = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if result["id"] in folder]
    assert not left, "left behind on the host: %r" % left


def brief(result):
    """Of a result, what one wants to see when a test fails."""
    keys = ("status", "reason", "hint", "exit_code", "signal", "execution_time_ms",
            "cpu_time_ms", "memory_used_mb")
    shown = {key: result.get(key) for key in keys}
    shown["stdout"] = (result.get("stdout") or "")[:300]
    shown["stderr"] = (result.get("stderr") or "")[-600:]
    return shown


def assert_ended(result, status, reason, *hint_words):
    """The hint holds all of these words, in some order."""
    assert (result["status"], result["reason"]) == (status, reason), brief(result)
    if status == "success":
        assert result["hint"] is None and result["exit_code"] == 0, brief(result)
    else:
        assert result["hint"], brief(result)
    for word in hint_words:
        assert word in result["hint"], "%r is not in the hint: %r" % (word, brief(result))


def assert_success(result):
    assert_ended(result, "success", "exit")
