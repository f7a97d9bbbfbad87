# SPDX-License-Identifier: Apache-2.0
"""`dewar approve`: approvals are listed, shown and decided once, and not by their own caller."""

import json
import os
import pathlib
import pty
import re
import select
import subprocess
import threading

import pytest

pytestmark = pytest.mark.cold

ALICE = "uid:4242 (alice)"


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


class Asker:
    """A process that waits for approval; wait() returns the answer that it got."""

    def __init__(self, program, state, request, who, rule, session, expires_ms, findings):
        self.process = subprocess.Popen(
            [program, state, who, rule, session, str(expires_ms), json.dumps(findings)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process.stdin.write(json.dumps(request).encode())
        self.process.stdin.close()
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.approval = json.loads(line)
        self.id = self.approval["id"]

    def wait(self):
        told = json.loads(self.process.stdout.readline())
        assert self.process.wait(60) == 0
        return told

    def end(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def ask(dewar, state):
    """ask(code): start a caller that requests approval of the code and waits."""
    program = pathlib.Path(dewar).parent / "ask-approval"
    askers = []

    def ask_for(code="import socket\n", *, who=ALICE, rule="network", session="s1",
                expires_ms=600000, findings=(), **more):
        request = {"language": "python", "code": code, **more}
        askers.append(Asker(program, state, request, who, rule, session, expires_ms,
                            list(findings)))
        return askers[-1]

    yield ask_for
    for asker in askers:
        asker.end()


@pytest.fixture
def approve(run, state):
    """approve(*words): the JSON that `dewar approve` prints."""

    def answer(*words, status=0):
        done = run("approve", *words, "--state", state, "--json")
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout)

    return answer


def own_name():
    with open("/etc/passwd", encoding="utf-8") as file:
        for line in file:
            name, _, uid, *_ = line.split(":")
            if int(uid) == os.getuid():
                return "uid:%d (%s)" % (os.getuid(), name)
    return "uid:%d" % os.getuid()


def test_without_approvals_the_list_is_empty(run, approve, state):
    assert approve("list") == []
    assert approve("list", "--remembered") == []
    done = run("approve", "list", "--state", state)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"no run is waiting for approval" in done.stderr
    assert not state.exists()
    assert approve("show", "ab", status=125)["error"]["code"] == "not_found"


def test_an_approval_permits_one_run(ask, approve):
    asker = ask()
    (listed,) = approve("list")
    assert listed["id"] == asker.id and listed["state"] == "pending"
    assert listed["who"] == ALICE and listed["rule"] == "network"
    assert listed["request"] == {"language": "python", "code": "import socket\n",
                                 "network": "none"}
    told = approve("yes", asker.id[:10], "--note", "fine")
    assert told["state"] == "approved" and told["note"] == "fine"
    assert told["decided_by"] == own_name()
    assert asker.wait() == {"state": "approved", "code": "ok", "error": ""}
    assert approve("show", asker.id)["state"] == "used"
    assert approve("list") == []
    assert [one["state"] for one in approve("list", "--all")] == ["used"]
    # The same request needs another approval.
    assert ask().approval["state"] == "pending"


def test_a_denial_and_its_note_reach_the_caller(ask, approve, run, state):
    asker = ask()
    done = run("approve", "no", asker.id, "--note", "not on a Friday", "--state", state)
    assert done.returncode == 0 and b"denied by " in done.stdout
    told = asker.wait()
    assert told["state"] == "denied" and told["code"] == "denied"
    assert "denied by %s" % own_name() in told["error"]
    assert "not on a Friday" in told["error"]


def test_a_second_decision_is_refused_and_names_the_first_approver(ask, approve, run, state):
    asker = ask()
    first = approve("no", asker.id)
    error = approve("yes", asker.id, status=125)["error"]
    assert error["code"] == "denied"
    assert "denied by %s at %s" % (own_name(), first["decided"]) in error["message"]
    assert approve("show", asker.id)["state"] == "denied"


def test_of_many_simultaneous_decisions_one_wins(ask, run, state):
    for _ in range(3):
        asker = ask()
        done = []

        def decide(word):
            done.append((word, run("approve", word, asker.id, "--state", state)))

        threads = [threading.Thread(target=decide, args=(word,))
                   for word in ("yes", "no") * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        won = [word for word, one in done if one.returncode == 0]
        lost = [one for _, one in done if one.returncode != 0]
        assert len(won) == 1 and len(lost) == 7
        said = {"yes": "approved", "no": "denied"}[won[0]]
        assert asker.wait()["state"] == said
        for one in lost:
            assert one.returncode == 125
            assert re.search(rb"approval .* is no longer pending: (%s) by uid:" % said.encode(),
                             one.stderr)


def test_an_expired_approval_cannot_be_decided(ask, approve):
    asker = ask(expires_ms=200)
    assert asker.wait()["state"] == "expired"
    assert approve("list") == []
    assert "expired" in approve("yes", asker.id, status=125)["error"]["message"]


def test_a_caller_cannot_approve_its_own_request(ask, approve):
    asker = ask(who="uid:%d (another name)" % os.getuid())
    error = approve("yes", asker.id, status=125)["error"]
    assert error["code"] == "denied" and "another person" in error["message"]
    assert approve("show", asker.id)["state"] == "pending"
    approve("no", asker.id)
    assert asker.wait()["state"] == "denied"


def test_an_approval_survives_the_caller_that_asked_for_it(ask, approve):
    asker = ask()
    asker.end()
    again = ask()
    assert again.id == asker.id
    approve("yes", asker.id)
    assert again.wait()["code"] == "ok"


@pytest.mark.parametrize("what, same, other", [
    ("code", {"session": "s2", "rule": "other"}, {"code": "2"}),
    ("session", {"code": "2"}, {"code": "2", "session": "s2"}),
    ("session", {"code": "2"}, {"code": "2", "rule": "other"}),
    ("rule", {"code": "2", "session": "s2"}, {"rule": "other"}),
])
def test_an_approval_can_be_remembered_and_forgotten(ask, approve, what, same, other):
    asker = ask()
    assert approve("yes", asker.id, "--remember", what)["remember"] == what
    assert asker.wait()["code"] == "ok"
    for _ in range(2):
        later = ask(**same)
        assert later.approval["state"] == "approved"
        assert later.wait()["code"] == "ok"
    assert ask(**other).approval["state"] == "pending"
    assert ask(who="key:1f2e3d4c (ci)", **same).approval["state"] == "pending"

    (memory,) = approve("list", "--remembered")
    assert memory["remember"] == what and memory["who"] == ALICE
    assert memory["decided_by"] == own_name()
    assert (memory["expires"] is not None) == (what == "session")
    assert later.approval["remembered_as"] == memory["id"]
    approve("forget", memory["id"][:8])
    assert approve("list", "--remembered") == []
    assert approve("forget", memory["id"], status=125)["error"]["code"] == "not_found"
    assert ask(**same).approval["state"] == "pending"


def test_a_remembered_approval_also_applies_to_waiting_runs(ask, approve):
    first, second = ask("1"), ask("2")
    approve("yes", first.id, "--remember", "rule")
    assert first.wait()["code"] == "ok" and second.wait()["code"] == "ok"


def test_show_prints_all_that_a_person_needs_to_decide(ask, run, state):
    asker = ask("import socket\nprint(1)", args=["a b"], files={"in.txt": "aGVsbG8K",
                                                               "x.bin": "/w=="},
                findings=[{"rule": "import:socket", "line": 1, "message": "the network"}])
    done = run("approve", "show", asker.id[:8], "--state", state)
    assert done.returncode == 0
    text = done.stdout.decode()
    assert asker.id in text and ALICE in text and "the rule says so" in text
    assert re.search(r"^state +pending, expires in 9m \d+s$", text, re.M)
    assert "    1 | import:socket: the network\n" in text
    assert "\ncode\n    1 | import socket\n    2 | print(1)\n" in text
    assert "\nfile in.txt, 6 bytes\n    1 | hello\n" in text
    assert "\nfile x.bin, 1 bytes, not text" in text
    assert re.search(r'^args +\["a b"\]$', text, re.M)
    row = run("approve", "list", "--state", state).stdout.decode()
    assert re.fullmatch(r"%s  pending +9m \d+s  %s  network  python: "
                        r"import socket\\nprint\(1\)\n"
                        % (asker.id[:12], re.escape(ALICE)), row)


def test_hostile_text_cannot_control_the_terminal(ask, run, state):
    evil = "x = 1 # \x1b[2J\x1b]0;title\x07\r\x9b1m\u202e\u200b\u2066\U000e0041 é\n\tok"
    asker = ask(evil, who="uid:5 (\x1b[1m)", rule="r\x1b[0m", session="s\x1b",
                env={"A": "\x1b[5m"}, files={"f\x1b": "G1sybQ=="},
                findings=[{"rule": "\x1b[3m", "line": 1, "message": "\x1b\n"}, "\x1b"])
    for words in (["list"], ["show", asker.id], ["yes", asker.id, "--remember", "session"],
                  ["list", "--remembered"]):
        done = run("approve", *words, "--state", state)
        assert done.returncode == 0, done.stderr
        text = done.stdout.decode()
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u200b\u2066\U000e0041]", text)
        if words[0] == "show":
            # It is printed in an escaped form, not dropped.
            assert r"# \u{1b}[2J\u{1b}]0;title\u{7}\u{d}\u{9b}1m\u{202e}\u{200b}\u{2066}" \
                   r"\u{e0041} é" in text
            assert "    2 | \tok\n" in text
            assert r"    1 | \u{1b}[2m" in text


def test_colours_are_printed_only_on_a_terminal(ask, dewar, state):
    asker = ask()

    def show(**env):
        leader, follower = pty.openpty()
        with subprocess.Popen([dewar, "approve", "show", asker.id, "--state", state],
                              stdout=follower, stdin=subprocess.DEVNULL,
                              env={**os.environ, "TERM": "xterm", **env}) as process:
            os.close(follower)
            text = b""
            while select.select([leader], [], [], 60)[0]:
                try:
                    text += os.read(leader, 65536)
                except OSError:  # the process has closed the terminal
                    break
            assert process.wait(60) == 0
        os.close(leader)
        return text

    assert b"\x1b[1m" in show(NO_COLOR="")
    assert b"\x1b" not in show(NO_COLOR="1")


def test_an_ambiguous_or_invalid_id_is_refused(ask, approve):
    ids = [ask(str(i)).id for i in range(17)]
    # Of seventeen ids at least two begin with the same digit.
    twice = next(one[0] for one in ids if [other[0] for other in ids].count(one[0]) > 1)
    error = approve("yes", twice, status=125)["error"]
    assert error["code"] == "invalid" and "several" in error["message"]
    assert len(approve("list")) == 17
    for wrong in ("", "zz", "%", "0" * 33):
        assert approve("show", wrong, status=125)["error"]["code"] == "invalid"


def test_state_may_name_the_database_file(ask, run, state):
    asker = ask()
    done = run("approve", "list", "--json", "--state", state / "approvals.db")
    assert [one["id"] for one in json.loads(done.stdout)] == [asker.id]


def test_only_the_owner_can_access_the_database(ask, run, state):
    ask()
    assert state.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in state.iterdir())
    (state / "approvals.db").chmod(0o640)
    done = run("approve", "list", "--state", state)
    assert done.returncode == 125 and b"mode 0600" in done.stderr


@pytest.mark.parametrize("words, said", [
    ([], b"list, show, yes, no or forget"),
    (["yes"], b"needs ID"),
    (["no", "ab", "--remember", "code"], b"does not accept --remember"),
    (["yes", "ab", "--remember", "all"], b"code, session or rule"),
    (["list", "--note", "x"], b"does not accept --note"),
    (["lst"], b"did you mean list?"),
])
def test_a_wrong_command_line_is_refused_with_a_reason(run, words, said):
    done = run("approve", *words)
    assert done.returncode == 125 and said in done.stderr
