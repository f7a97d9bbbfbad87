# SPDX-License-Identifier: Apache-2.0
"""The effect of one key's fork bombs on the runs of another key."""

import os
import pathlib

from daemon import wait_until

SLEEP = {"command": "sleep 100"}
BOMB = {"language": "python", "limits": {"timeout_s": 20, "pids": 16},
        "code": "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"}


def idle_groups(daemon):
    """How many cells of the daemon have cpu.idle set, so that all other processes run first."""
    # os.walk() ignores groups of other tests that disappear meanwhile.
    groups = [pathlib.Path(folder) for folder, _, names in os.walk("/sys/fs/cgroup")
              if "cpu.idle" in names and ("-%d-" % daemon.pid) in os.path.basename(folder)]
    return [(group / "cpu.idle").read_text(encoding="ascii").strip() for group in groups].count("1")


def test_runs_of_a_key_with_fork_bombs_run_one_at_a_time_at_idle_priority(keyed, is_root):
    daemon, key = keyed(None, us=[], them=[])
    both = [daemon.start(SLEEP, key=key["them"]) for _ in range(2)]
    for run in both:
        daemon.wait_state(run, "running")
    assert daemon.run({"command": "true"}, key=key["us"])["exit_code"] == 0
    assert idle_groups(daemon) == 0
    for run in both:
        daemon.delete("/v1/runs/" + run)
        daemon.wait_state(run, "done")

    assert daemon.run(BOMB, key=key["them"])["reason"] == "pids"
    daemon.start({"command": "true"}, key=key["us"])  # so that `them` does not count as alone
    both = [daemon.start(SLEEP, key=key["them"]) for _ in range(2)]
    daemon.wait_state(both[0], "running")
    assert daemon.run({"command": "true"}, key=key["us"])["exit_code"] == 0
    assert daemon.state_of(both[1]) == "queued"
    if is_root:  # a plain user has no cgroup
        wait_until(lambda: idle_groups(daemon) == 1, "the one that runs to yield")
    else:
        assert idle_groups(daemon) == 0

    assert daemon.delete("/v1/runs/" + both[0]).status == 202
    daemon.wait_state(both[1], "running")
    result = daemon.wait_state(both[0], "done")["result"]
    assert any("yields to runs of other keys" in text for text in result["warnings"])
    if is_root:
        cpu = result["proof"]["limits"]["cpu"]
        assert (cpu["kernel"], cpu["enforced"]) == (20, True) and "yields" in cpu["note"], cpu


def test_a_key_with_fork_bombs_is_not_slowed_if_it_is_alone(keyed):
    daemon, key = keyed(None, them=[])
    assert daemon.run(BOMB, key=key["them"])["reason"] == "pids"
    for run in [daemon.start(SLEEP, key=key["them"]) for _ in range(2)]:
        daemon.wait_state(run, "running", key=key["them"])
