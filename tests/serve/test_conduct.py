# SPDX-License-Identifier: Apache-2.0
"""The order of a run, as clients of the daemon see it: record, approval, outcome, answer."""

import sqlite3
import time

import pytest

from daemon import wait_until
from test_approvals import ASK, RUN, pending, yes
from test_policy import rule

pytestmark = pytest.mark.privilege


@pytest.mark.parametrize("policy, decision, name", [
    ({"rules": [rule("no-echo", "deny", {"commands": ["echo"]})]}, "deny", "no-echo"),
    ({"rules": []}, "allow", "default"),
])
def test_the_outcome_carries_the_decision_and_the_rule_of_the_intent(judged, policy, decision,
                                                                     name):
    daemon = judged(policy)
    record = daemon.audit("show", daemon.run(RUN)["id"])
    for row in record["intent"], record["end"]:
        assert (row["decision"], row["rule"]) == (decision, name), record


def test_an_approval_outlives_an_intent_that_cannot_be_recorded(judged):
    daemon = judged(ASK)
    run = daemon.start(RUN)
    daemon.wait_state(run, "pending")
    one, = pending(daemon)
    with sqlite3.connect(daemon.state / "audit.db") as record:
        record.execute("CREATE TRIGGER full BEFORE INSERT ON record WHEN NEW.kind = 'intent' "
                       "BEGIN SELECT RAISE(FAIL, 'disk full'); END")
    yes(daemon, one["id"])
    wait_until(lambda: daemon.logged("audit.intent_failed"), "the run to be refused")
    with sqlite3.connect(daemon.state / "audit.db") as record:
        record.execute("DROP TRIGGER full")
    assert daemon.run(RUN)["stdout"] == "approved\n", "the same approval is good for another run"


def test_one_approval_is_recorded_for_one_of_two_equal_runs(judged):
    daemon = judged(ASK)
    runs = [daemon.start(RUN) for _ in range(2)]
    for run in runs:
        daemon.wait_state(run, "pending")
    first, = pending(daemon)
    yes(daemon, first["id"])
    done = wait_until(lambda: next((run for run in runs if daemon.state_of(run) == "done"), None),
                      "one of the runs to end")
    other, = [run for run in runs if run != done]
    second = wait_until(lambda: next(iter(pending(daemon)), None), "the other run to ask again")
    assert second["id"] != first["id"]
    yes(daemon, second["id"])
    daemon.wait_state(other, "done")
    for run, approval in (done, first), (other, second):
        record = daemon.audit("show", run)
        for row in record["intent"], record["end"]:
            assert row["rule"].endswith("approval " + approval["id"]), record


def test_the_time_to_record_a_run_is_not_taken_from_its_timeout(judged):
    daemon = judged({"rules": []})
    record = sqlite3.connect(daemon.state / "audit.db", isolation_level=None, timeout=60)
    record.execute("BEGIN IMMEDIATE")
    run = daemon.start({"command": "echo done", "limits": {"timeout_s": 5}})
    time.sleep(6)
    record.execute("ROLLBACK")
    record.close()
    result = daemon.wait_state(run, "done")["result"]
    assert (result["status"], result["stdout"]) == ("success", "done\n"), result
    assert not any("queue" in warning for warning in result["warnings"]), result


def test_the_outcome_is_recorded_before_the_answer(judged):
    """While the record is locked, a run that has ended has no answer."""
    daemon = judged({"rules": []})
    record = sqlite3.connect(daemon.state / "audit.db", isolation_level=None, timeout=60)

    def locked():
        """A run that ends while we hold the lock; None if it ended before."""
        run = daemon.start({"command": "sleep 1"})
        daemon.wait_state(run, "running")
        record.execute("BEGIN IMMEDIATE")
        if daemon.state_of(run) == "running":
            return run
        record.execute("ROLLBACK")
        return None

    run = wait_until(locked, "a run to end while the record is locked")
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        assert daemon.state_of(run) == "running", "it answered before it could be recorded"
        time.sleep(0.1)
    record.execute("ROLLBACK")
    record.close()
    daemon.wait_state(run, "done")
    assert daemon.audit("show", run)["end"]["status"] == "success"
