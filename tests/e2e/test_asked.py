# SPDX-License-Identifier: Apache-2.0
"""Runs of the command line that need approval, and the operator's own check."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from e2e.helpers import wait_until

POLICY = """
version: 1
default: allow
approvals: {expire_s: %d, self: %s}
rules:
  - name: sockets
    when: {findings: ["import:socket"]}
    decision: ask
    reason: it wants the network
"""
CODE = "import socket; print('ran')"


class Waiting:
    """`dewar run` that waits for approval."""

    def __init__(self, argv, env):
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, json.loads(out), err.decode()


@pytest.fixture
def place(tmp_path):
    return tmp_path / "state"


@pytest.fixture
def policy(tmp_path):
    def write(text, name="policy.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def ask(dewar, place, tmp_path):
    """ask(policy, code): start a run that needs approval, and wait for its approval."""
    started = []

    def begin(policy, code=CODE, *options, waits=True):
        argv = [dewar, "run", "--json", "--policy", policy, *options, "python", "-c", code]
        env = {**os.environ, "DEWAR_APPROVALS": str(place),
               "DEWAR_AUDIT": str(tmp_path / "audit.db")}
        before = approvals(dewar, place)
        run = Waiting(argv, env)
        started.append(run)
        if waits:
            wait_until(lambda: len(approvals(dewar, place)) > len(before), "an approval", 60)
            run.approval = [q for q in approvals(dewar, place) if q not in before][0]
        return run

    yield begin
    for run in started:
        if run.process.poll() is None:
            run.process.kill()
        run.process.communicate()


def peek(run):
    """The stderr of a run so far; end() returns the rest."""
    os.set_blocking(run.process.stderr.fileno(), False)
    try:
        return (run.process.stderr.peek() or b"").decode()
    finally:
        os.set_blocking(run.process.stderr.fileno(), True)


def approve(dewar, place, *words):
    return subprocess.run([dewar, "approve", *words, "--state", place, "--json"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


def approvals(dewar, place):
    if not (place / "approvals.db").exists():
        return []
    return [q["id"] for q in json.loads(approve(dewar, place, "list").stdout)]


def recorded(run, tmp_path, run_id):
    done = run("audit", "show", run_id, "--json", env={"DEWAR_AUDIT": str(tmp_path / "audit.db")})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_approved_request_runs_once(ask, dewar, place, policy, run, tmp_path):
    name = policy(POLICY % (300, "true"))
    first = ask(name)
    assert approve(dewar, place, "yes", first.approval).returncode == 0
    status, result, said = first.end()
    assert (status, result["stdout"], result["metadata"]["ok"]) == (0, "ran\n", True)
    assert first.approval in said and "sockets" in said
    intent = json.dumps(recorded(run, tmp_path, result["id"]))
    assert '"decision": "ask"' in intent and "sockets: approved by uid:%d" % os.getuid() in intent

    second = ask(name)
    assert second.approval != first.approval, "an approval is for one run"
    assert approve(dewar, place, "no", second.approval, "--note", "not twice").returncode == 0
    status, result, _ = second.end()
    assert (status, result["reason"], result["metadata"]["ok"]) == (125, "approval_denied", False)
    assert "not twice" in result["hint"] and result["stdout"] == ""
    assert "approval_denied" in json.dumps(recorded(run, tmp_path, result["id"]))


def test_a_run_whose_approval_another_run_used_asks_again(ask, dewar, place, policy):
    """Two runs of the same request wait for one approval, which only one of them can use."""
    name = policy(POLICY % (300, "true"))
    first = ask(name)
    second = ask(name, waits=False)
    wait_until(lambda: "waiting for" in peek(second), "the second run to wait", 60)
    assert approve(dewar, place, "yes", first.approval).returncode == 0
    again = wait_until(lambda: [q for q in approvals(dewar, place) if q != first.approval],
                       "one of them to ask again", 60)
    assert approve(dewar, place, "yes", again[0]).returncode == 0
    for run in first, second:
        status, result, _ = run.end()
        assert (status, result["stdout"]) == (0, "ran\n"), result


def test_an_approval_covers_exactly_the_approved_request(ask, dewar, place, policy):
    """The same code with other limits, or other code, needs another approval."""
    name = policy(POLICY % (300, "true"))
    first = ask(name)
    assert approve(dewar, place, "yes", first.approval, "--remember", "code").returncode == 0
    assert first.end()[0] == 0
    assert ask(name, waits=False).end()[1]["stdout"] == "ran\n", "it is remembered"
    for code, options in ((CODE + "\n", ()), (CODE, ("--memory", "64M")), (CODE, ("--env", "A=1")),
                          (CODE, ("--level", "process"))):
        other = ask(name, code, *options)
        assert approve(dewar, place, "no", other.approval).returncode == 0
        assert other.end()[1]["reason"] == "approval_denied", (code, options)


def test_an_approval_shows_the_level_that_the_policy_raised(ask, dewar, place, policy):
    raising = "rules:\n  - {name: walls, when: {level: process}, decision: raise, to: container}"
    waiting = ask(policy((POLICY % (300, "true")).replace("rules:", raising)), CODE,
                  "--level", "process")
    shown = json.loads(approve(dewar, place, "show", waiting.approval).stdout)
    assert shown["request"]["level"] == "container"
    assert approve(dewar, place, "yes", waiting.approval).returncode == 0
    result = waiting.end()[1]
    assert (result["stdout"], result["proof"]["achieved"]) == ("ran\n", "container")


def test_a_caller_cannot_approve_its_own_request(ask, dewar, place, policy):
    waiting = ask(policy(POLICY % (300, "false")))
    done = approve(dewar, place, "yes", waiting.approval)
    assert done.returncode != 0 and b"another person" in done.stderr
    assert waiting.process.poll() is None, "it goes on waiting"
    assert approve(dewar, place, "no", waiting.approval).returncode == 0
    assert waiting.end()[1]["reason"] == "approval_denied"


def test_an_undecided_approval_expires(ask, policy):
    status, result, _ = ask(policy(POLICY % (1, "true")), waits=False).end()
    assert (status, result["reason"]) == (125, "approval_expired")
    assert result["hint"] and result["exit_code"] is None


def test_an_answer_after_an_interrupt_applies_to_the_next_run(ask, dewar, place, policy):
    name = policy(POLICY % (300, "true"))
    waiting = ask(name)
    waiting.process.send_signal(signal.SIGINT)
    status, result, _ = waiting.end()
    assert status == 128 + signal.SIGINT and waiting.approval in result["hint"]
    assert approvals(dewar, place) == [waiting.approval], "it is still open"
    assert approve(dewar, place, "yes", waiting.approval).returncode == 0
    assert ask(name, waits=False).end()[1]["stdout"] == "ran\n"


def test_of_two_simultaneous_decisions_one_wins(ask, dewar, place, policy):
    """The first decision counts; the second approver is told so."""
    waiting = ask(policy(POLICY % (300, "true")))
    answers = {}

    def decide(word):
        answers[word] = approve(dewar, place, word, waiting.approval)

    threads = [threading.Thread(target=decide, args=(word,)) for word in ("yes", "no")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [word for word, done in answers.items() if done.returncode == 0]
    assert len(won) == 1, answers
    assert waiting.end()[1]["metadata"]["ok"] is (won[0] == "yes")


def test_an_allowed_run_creates_no_database(run, place, policy):
    done = run("run", "--policy", policy(POLICY % (300, "true")), "python", "-c", "print(1)",
               env={"DEWAR_APPROVALS": str(place)})
    assert (done.returncode, done.stdout) == (0, b"1\n")
    assert not place.exists()


# ---- the operator's own check ----

def checked(policy, body, timeout_s=20):
    program = policy("#!%s\nimport json, sys\nletter = json.load(sys.stdin)\n%s\n" %
                     (sys.executable, body), "check.py")
    os.chmod(program, 0o755)
    return policy("version: 1\ndefault: allow\napprovals: {expire_s: 300, self: true}\n"
                  "check: {program: [%s], timeout_s: %d}\n" % (program, timeout_s))


SAY = "print(json.dumps({'decision': '%s', 'reason': 'so says the check'}))"


def test_the_operators_check_can_allow(run, policy):
    name = checked(policy, "assert 'hello' in json.dumps(letter)\n" + SAY % "allow")
    done = run("run", "--policy", name, "python", "-c", "print('hello')")
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr


@pytest.mark.parametrize("body, word", [
    (SAY % "deny", "so says the check"), ("sys.exit(1)", "check"), ("print('yes')", "check"),
    ("print(json.dumps({'decision': 'perhaps'}))", "check"), ("pass", "check"),
    ("import time; time.sleep(100)", "check")])
def test_nothing_runs_if_the_operators_check_denies_or_fails(run_json, policy, body, word):
    name = checked(policy, body, timeout_s=3)
    result = run_json("--policy", name, "python", "-c", "print(1)")
    assert (result["reason"], result["metadata"]["ok"]) == ("policy", False)
    assert word in result["hint"] and result["stdout"] == ""


def test_the_operators_check_can_require_approval(ask, dewar, place, policy):
    waiting = ask(checked(policy, SAY % "ask"), "print('ran')")
    shown = json.loads(approve(dewar, place, "show", waiting.approval).stdout)
    assert shown["reason"] == "so says the check"
    assert approve(dewar, place, "yes", waiting.approval).returncode == 0
    assert waiting.end()[1]["stdout"] == "ran\n"
