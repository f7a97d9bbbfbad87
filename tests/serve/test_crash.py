# SPDX-License-Identifier: Apache-2.0
"""kill -9 during many runs, and how the next daemon recovers."""

import os
import pathlib
import sqlite3
import tempfile
import threading
import time

import pytest

from daemon import wait_until
from e2e.helpers import alive, fresh_mark

pytestmark = pytest.mark.privilege


def family(pid):
    """The pids of a process and all of its descendants."""
    parents = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it has ended
        parents[int(folder.name)] = int(stat[stat.rindex(")") + 1:].split()[1])
    found = {pid}
    while True:
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def started_at(pid):
    """The start time, which together with the pid identifies a process."""
    try:
        stat = pathlib.Path("/proc/%d/stat" % pid).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat[stat.rindex(")") + 1:].split()
    return None if fields[0] == "Z" else fields[19]


def cgroups_of(pid, runs):
    """The cgroups of a daemon: their names contain its pid or the ids of its runs."""
    return [os.path.join(folder, name)
            for folder, names, _ in os.walk("/sys/fs/cgroup") for name in names
            if name.startswith("dewar-") and (
                str(pid) in name.split("-") or any(run in name for run in runs))]


def folders_of(runs):
    return [str(path) for path in pathlib.Path(tempfile.gettempdir()).glob("dewar-*")
            if any(path.name == "dewar-" + run[:16] for run in runs)]


def mounts_of(runs):
    text = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if any(run[:16] in line for run in runs)]


def records(daemon):
    with sqlite3.connect("file:%s?mode=ro" % (daemon.state / "audit.db"), uri=True) as db:
        return db.execute("SELECT kind, run FROM record ORDER BY seq").fetchall()


def crash(daemon, mark):
    """Start many runs, kill the daemon meanwhile, and return the processes that it had."""
    def client(i):
        while True:
            try:
                daemon.post({"language": "python", "args": [mark], "code":
                             "import time, subprocess\n"
                             "subprocess.Popen(['sh', '-c', 'sleep 100; :', '%s'])\n"
                             "time.sleep(%s)" % (mark, 0.02 * i if i % 2 else 100)})
            except Exception:  # noqa: B902: it is killed
                return

    threads = [threading.Thread(target=client, args=(i,), daemon=True) for i in range(12)]
    for thread in threads:
        thread.start()
    wait_until(lambda: sum(kind == "outcome" for kind, _ in records(daemon)) >= 20 and
               len(alive(mark)) >= 6, "some to be over and some to run")
    mine = {pid: started_at(pid) for pid in family(daemon.pid)}
    daemon.process.kill()
    daemon.wait_end()
    for thread in threads:
        thread.join(60)
    return {pid: when for pid, when in mine.items() if when}


def check_after(serve, config):
    daemon = serve(config)
    mark = fresh_mark()
    mine = crash(daemon, mark)
    killed = time.monotonic()

    # The kernel ends each cell when its launcher ends, without the help of another process.
    wait_until(lambda: not alive(mark), "the programs to be gone")
    wait_until(lambda: not [pid for pid, when in mine.items() if started_at(pid) == when],
               "all processes of the daemon to be gone")
    print("all processes are gone %.2f s after the kill" % (time.monotonic() - killed))

    again = serve(config, state=daemon.state)
    runs = {run for _, run in records(again) if run}
    started = time.monotonic()
    wait_until(lambda: not cgroups_of(daemon.pid, runs) and not folders_of(runs) and
               not mounts_of(runs), "cgroups, folders and mounts to be gone")
    print("all that was left is gone %.2f s after the restart" % (time.monotonic() - started))
    assert again.audit("verify")["sound"]
    ends = {}
    for kind, run in records(again):
        if kind in ("outcome", "interrupted"):
            assert run not in ends, "two ends of one run"
            ends[run] = kind
    intents = [run for kind, run in records(again) if kind == "intent"]
    assert len(intents) == len(set(intents)) and set(ends) == set(intents)
    assert "interrupted" in ends.values() and "outcome" in ends.values()
    interrupted = {run["intent"]["run"] for run in
                   again.get("/v1/audit?status=interrupted&limit=1000").json["runs"]}
    assert interrupted == {run for run, kind in ends.items() if kind == "interrupted"}
    assert again.run({"command": "echo on"})["stdout"] == "on\n"
    again.stop()
    assert again.audit("verify")["sound"]


def test_killed_in_the_middle_of_cold_runs(serve):
    check_after(serve, {"runs": {"concurrent": 8}})


def test_killed_in_the_middle_of_warm_runs(serve):
    check_after(serve, {"runs": {"concurrent": 8}, "pool": {"disabled": False}})


def test_two_daemons_do_not_end_each_others_runs(serve):
    """A starting daemon cleans up after ended daemons, not after live ones."""
    first = serve(state=serve.folder / "one")
    run = first.start({"command": "sleep 5; echo done"})
    first.wait_state(run, "running")
    second = serve(state=serve.folder / "two")
    assert second.run({"command": "echo second"})["stdout"] == "second\n"
    second.stop()
    assert first.wait_state(run, "done")["result"]["stdout"] == "done\n"
