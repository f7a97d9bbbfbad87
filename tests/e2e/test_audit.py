# SPDX-License-Identifier: Apache-2.0
"""Every run is recorded before it starts, and changes of the record are detected."""

import hashlib
import json
import os
import signal
import sqlite3
import struct
import subprocess
import time

import pytest

from e2e.conftest import merged_env
from e2e.helpers import wait_until

pytestmark = pytest.mark.privilege

# The order of the fields in docs/AUDIT.md. prose: allow `who` is a field
FIELDS = ("seq time_us kind run who request decision rule level_asked level_achieved "
          "proof_sha256 status reason hint exit_code signal run_us cpu_us memory_bytes "
          "through_seq through_hash prev_hash").split()

DROP = ("DROP TRIGGER record_appends; DROP TRIGGER record_stays; "
        "DROP TRIGGER record_is_kept;")


@pytest.fixture
def book(tmp_path):
    return tmp_path / "state" / "audit.db"


@pytest.fixture
def env(book):
    return {"DEWAR_AUDIT": str(book)}


@pytest.fixture
def audit(run, env):
    """audit(*words): the JSON that `dewar audit` prints."""

    def ask(*words, status=0):
        done = run("audit", *words, "--json", env=env)
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout)

    return ask


def records(book):
    with sqlite3.connect("file:%s?mode=ro" % book, uri=True) as db:
        rows = db.execute("SELECT %s, hash FROM record ORDER BY seq" % ", ".join(FIELDS))
        return [dict(zip(FIELDS + ["hash"], row)) for row in rows]


def spoil(book, sql):
    db = sqlite3.connect(book)
    db.executescript(DROP + sql)
    db.close()


def test_the_record_contains_the_code_and_the_outcome(run_json, audit, env, book, is_root):
    result = run_json("python", "-c", "print(6 * 7)", env=env)
    intent, outcome = records(book)
    assert (intent["kind"], outcome["kind"]) == ("intent", "outcome")
    assert intent["run"] == outcome["run"] == result["id"]
    assert intent["who"].startswith("uid:%d" % os.getuid())
    assert json.loads(intent["request"])["code"] == "print(6 * 7)"
    assert intent["level_asked"] == "container"
    assert outcome["level_achieved"] == result["proof"]["achieved"]
    assert (outcome["status"], outcome["reason"]) == (result["status"], result["reason"])
    assert outcome["exit_code"] == 0
    assert outcome["run_us"] == round(result["execution_time_ms"] * 1000)

    shown = audit("show", result["id"][:10])
    assert shown["intent"]["request"]["code"] == "print(6 * 7)"
    assert shown["end"]["status"] == shown["status"] == "success"


def test_the_recorded_digest_is_that_of_the_proof_in_the_result(run, env, book):
    done = run("run", "--json", "sh", "-c", ":", env=env)
    text = done.stdout.decode()
    begin = text.index('"proof":') + len('"proof":')
    proof = text[begin:text.index(',"metadata":')]
    assert json.loads(proof)["requested"] == "container"
    assert records(book)[1]["proof_sha256"] == hashlib.sha256(proof.encode()).hexdigest()


def test_the_hash_chain_is_as_documented(run, env, book):
    """Compares with an independent implementation of docs/AUDIT.md."""

    def encode(value):
        if value is None:
            return b"n"
        if isinstance(value, int):
            return b"i" + struct.pack(">q", value)
        return b"t" + struct.pack(">Q", len(value.encode())) + value.encode()

    for code in ("print('ü')", "exit(3)"):
        run("run", "python", "-c", code, env=env)
    before = "0" * 64
    assert [record["kind"] for record in records(book)] == ["intent", "outcome"] * 2
    for number, record in enumerate(records(book), 1):
        assert record["seq"] == number
        assert record["prev_hash"] == before
        data = b"dewar audit 1\n" + b"".join(encode(record[field]) for field in FIELDS)
        before = hashlib.sha256(data).hexdigest()
        assert record["hash"] == before


def test_failed_runs_are_recorded(run, audit, env):
    run("run", "python", "-c", "exit(3)", env=env)
    run("run", "--timeout", "200ms", "sh", "-c", "sleep 9", env=env)
    run("exec", "kill -9 $$", env=env)
    run("run", "--request", "-", env=env,
        input=b'{"language": "cobol", "code": "x"}')
    ends = [(one["status"], one["end"]["reason"]) for one in audit("list")]
    assert ends == [("error", "invalid"), ("error", "signal"), ("timeout", "timeout_wall"),
                    ("error", "exit")]
    assert [one["id"] for one in audit("list", "--status", "timeout")] == \
        [audit("list")[2]["id"]]


def test_a_recorded_request_can_be_run_again(run, run_json, audit, env, tmp_path):
    (tmp_path / "in.txt").write_text("hello")
    first = run_json("--file", tmp_path / "in.txt", "--env", "A=1", "--memory", "64M", "sh",
                     "-c", "cat in.txt; echo $A $1; cat", "--stdin", "typed", "--", "arg", env=env)
    request = audit("show", first["id"])["intent"]["request"]
    again = run_json("--request", "-", input=json.dumps(request).encode(), env=env)
    assert again["stdout"] == first["stdout"] == "hello1 arg\ntyped"
    assert again["id"] != first["id"]


def test_the_default_place_is_below_home(run, tmp_path):
    env = {"HOME": str(tmp_path), "XDG_STATE_HOME": None}
    assert run("run", "sh", "-c", ":", env=env).returncode == 0
    folder = tmp_path / ".local" / "state" / "dewar"
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600, file
    assert len(records(folder / "audit.db")) == 2
    assert run("audit", "verify", env=env).stdout.startswith(b"sound: 2 records, 1 to 2\n")


def test_xdg_state_home_moves_it(run, tmp_path):
    env = {"HOME": "/nonexistent", "XDG_STATE_HOME": str(tmp_path)}
    assert run("run", "sh", "-c", ":", env=env).returncode == 0
    assert (tmp_path / "dewar" / "audit.db").exists()


def test_nothing_runs_if_the_record_cannot_be_written(run, tmp_path):
    (tmp_path / "file").write_text("")
    ran = tmp_path / "ran"
    env = {"DEWAR_AUDIT": str(tmp_path / "file" / "audit.db")}
    touch = ("run", "--level", "none", "sh", "-c", "touch %s" % ran)
    done = run(*touch, env=env)
    assert done.returncode == 125
    assert b"no record, no run: " in done.stderr and b"--no-audit" in done.stderr
    assert str(tmp_path).encode() in done.stderr
    assert not ran.exists()
    done = run(*touch, "--json", env=env)
    assert set(json.loads(done.stdout)) == {"error"} and not ran.exists()
    assert run(*touch, "--no-audit", env=env).returncode == 0
    assert ran.exists()


def test_a_file_that_cannot_be_written_refuses_the_run(run, env, book, is_root, must):
    must(not is_root, "root writes whatever it likes")
    run("run", "sh", "-c", ":", env=env)
    book.chmod(0o400)
    done = run("run", "sh", "-c", ":", env=env)
    assert done.returncode == 125 and b"Permission denied" in done.stderr


def test_a_read_only_record_can_be_verified(run, env, book, is_root, must):
    must(not is_root, "root writes whatever it likes")
    run("run", "sh", "-c", ":", env=env)
    sqlite3.connect(book).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    book.parent.chmod(0o500)
    try:
        done = run("audit", "verify", env=env)
    finally:
        book.parent.chmod(0o700)
    assert done.stdout.startswith(b"sound: 2 records"), done.stderr


def test_a_damaged_file_refuses_the_run(run, env, book):
    book.parent.mkdir()
    book.write_bytes(b"This is no database. " * 100)
    done = run("run", "sh", "-c", ":", env=env)
    assert done.returncode == 125 and b"no record, no run" in done.stderr


def test_no_audit_leaves_no_record(run, env, book):
    assert run("run", "--no-audit", "sh", "-c", ":", env=env).returncode == 0
    assert run("exec", "--no-audit", ":", env=env).returncode == 0
    assert not book.exists()


def test_a_killed_run_is_recorded_as_interrupted(run, dewar, audit, env, book):
    child = subprocess.Popen([dewar, "run", "sh", "-c", "echo on; sleep 60"],
                             env=merged_env(env), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"on\n"
        assert [one["status"] for one in audit("list")] == ["running"]
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    # `audit list` shows it at once; the record gets it with the next write.
    assert [one["status"] for one in audit("list")] == ["interrupted"]
    assert len(records(book)) == 1
    assert audit("verify")["open"] == 1
    run("run", "sh", "-c", ":", env=env)
    assert [record["kind"] for record in records(book)] == \
        ["intent", "interrupted", "intent", "outcome"]
    assert [one["status"] for one in audit("list")] == ["success", "interrupted"]
    verdict = audit("verify")
    assert verdict["sound"] and verdict["open"] == 0


def test_many_runs_killed_at_once_leave_a_sound_record(run, dewar, audit, env):
    # Every second run sleeps so long that it cannot end before it is killed.
    children = [subprocess.Popen([dewar, "run", "sh", "-c", "sleep %g" % (60 if i % 2 else 0.3)],
                                 env=merged_env(env), stdin=subprocess.DEVNULL)
                for i in range(12)]
    for number, child in enumerate(children):
        time.sleep(0.02)
        if number % 2:
            child.kill()
    for child in children:
        child.wait()
    run("run", "sh", "-c", ":", env=env)
    verdict = audit("verify")
    assert verdict["sound"] and verdict["open"] == 0
    done = [one["status"] for one in audit("list")]
    assert done.count("success") == 7
    assert set(done) <= {"success", "interrupted"}


def test_a_cancelled_run_has_an_outcome(dewar, audit, env):
    child = subprocess.Popen([dewar, "run", "sh", "-c", "echo on; sleep 60"],
                             env=merged_env(env), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"on\n"
    child.send_signal(signal.SIGTERM)
    assert child.wait() == 143
    child.stdout.close()
    assert audit("list")[0]["end"]["reason"] == "cancelled"


@pytest.mark.parametrize("sql, kind, seq", [
    ("UPDATE record SET request = replace(request, '1', '2') WHERE seq = 3", "changed", 3),
    ("DELETE FROM record WHERE seq = 4", "missing", 4),
    ("DELETE FROM record WHERE seq = 6", "missing", 6),
    ("UPDATE record SET seq = 99 WHERE seq = 2; UPDATE record SET seq = 2 WHERE seq = 4;"
     "UPDATE record SET seq = 4 WHERE seq = 99", "out_of_order", 2),
])
def test_verify_names_the_row_that_was_changed(run, audit, env, book, sql, kind, seq):
    for _ in range(3):
        run("run", "sh", "-c", "echo 1", env=env)
    assert audit("verify")["sound"]
    spoil(book, sql)
    verdict = audit("verify", status=1)
    assert not verdict["sound"]
    assert (verdict["fault"]["kind"], verdict["fault"]["seq"]) == (kind, seq)
    done = run("audit", "verify", env=env)
    assert done.returncode == 1
    assert b"NOT SOUND: record" in done.stdout and str(seq).encode() in done.stdout


def test_a_head_kept_elsewhere_reveals_truncation(run, audit, env, book):
    for _ in range(2):
        run("run", "sh", "-c", ":", env=env)
    head = run("audit", "verify", env=env).stdout.decode().split("head: ")[1].strip()
    assert run("audit", "verify", "--head", head, env=env).returncode == 0
    spoil(book, "DELETE FROM record WHERE seq > 2;"
                "UPDATE sqlite_sequence SET seq = 2 WHERE name = 'record'")
    assert audit("verify")["sound"]
    assert audit("verify", "--head", head, status=1)["fault"]["kind"] == "missing"
    done = run("audit", "verify", "--head", "x", env=env)
    assert done.returncode == 125 and b"--head must be" in done.stderr


def test_prune_keeps_the_chain_verifiable(run, audit, env):
    for _ in range(3):
        run("run", "sh", "-c", ":", env=env)
    time.sleep(1.1)
    run("run", "sh", "-c", ":", env=env)
    assert audit("prune", "--older-than", "1s") == {"removed": 6}
    verdict = audit("verify")
    assert verdict["sound"] and verdict["first"] == 7 and verdict["head"]["seq"] == 9
    assert len(audit("list")) == 1


def test_export_prints_one_record_a_line(run, env, book):
    for _ in range(2):
        run("run", "sh", "-c", ":", env=env)
    lines = run("audit", "export", env=env).stdout.decode().splitlines()
    assert [json.loads(line)["hash"] for line in lines] == \
        [record["hash"] for record in records(book)]
    assert run("audit", "export", "--until", "2001-01-01", env=env).stdout == b""
    assert len(run("audit", "export", "--limit", "3", env=env).stdout.splitlines()) == 3


def test_control_characters_are_not_printed(run, env):
    code = "print('\x1b[31m\u202e')\nprint(2)"
    run("run", "python", "-c", code, env=env)
    listed = run("audit", "list", env=env).stdout.decode()
    assert listed.endswith("print(2)\n")
    assert listed.count("\n") == 1 and "print(2)" in listed
    run_id = json.loads(run("audit", "list", "--json", env=env).stdout)[0]["id"]
    shown = run("audit", "show", run_id, env=env).stdout.decode()
    for text in (listed, shown):
        assert "\x1b" not in text and "\u202e" not in text
    assert "\nprint(2)\n" in shown


def test_reading_does_not_change_the_record(run, env, book):
    run("run", "sh", "-c", ":", env=env)
    before = book.read_bytes(), (book.parent / "audit.db-wal").read_bytes()
    for words in (["list"], ["export"], ["verify"], ["show", records(book)[0]["run"]]):
        assert run("audit", *words, env=env).returncode == 0
    assert before == (book.read_bytes(), (book.parent / "audit.db-wal").read_bytes())


@pytest.mark.parametrize("words, says", [
    ([], "no subcommand given; must be list, show, export, verify or prune"),
    (["lst"], "did you mean list?"),
    (["show"], "`dewar audit show` needs ID"),
    (["show", "xyz"], "is not a run id"),
    (["show", "abcdef"], "no run abcdef in the audit record"),
    (["list", "more"], 'unexpected argument "more"'),
    (["list", "--head", "1:2"], "`dewar audit list` does not accept --head"),
    (["list", "--since", "yesterday"], "is not a time"),
    (["prune"], "no --older-than or --larger-than given"),
])
def test_a_wrong_option_is_refused_with_a_reason(run, env, words, says):
    run("run", "sh", "-c", ":", env=env)
    done = run("audit", *words, env=env)
    assert done.returncode == 125
    assert says in done.stderr.decode()


def test_a_missing_record_is_reported(run, tmp_path):
    done = run("audit", "list", env={"DEWAR_AUDIT": str(tmp_path / "none.db")})
    assert done.returncode == 125 and b"No such file" in done.stderr
    assert not (tmp_path / "none.db").exists()


def test_a_host_without_any_record_has_an_empty_list(run, tmp_path):
    env = {"DEWAR_AUDIT": "", "HOME": str(tmp_path), "XDG_STATE_HOME": ""}
    done = run("audit", "list", env=env)
    assert (done.returncode, done.stdout) == (0, b"") and b"no such runs" in done.stderr
    done = run("audit", "list", "--json", env=env)
    assert (done.returncode, done.stdout) == (0, b"[]\n")
    assert not list(tmp_path.iterdir())


def test_a_run_waits_for_another_writer(run, dewar, env, book):
    """A write lock of another program delays a run and does not make it fail."""
    run("run", "sh", "-c", ":", env=env)
    db = sqlite3.connect(book, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    child = subprocess.Popen([dewar, "run", "sh", "-c", "echo ran"], env=merged_env(env),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    time.sleep(0.5)
    assert child.poll() is None
    db.execute("ROLLBACK")
    db.close()
    assert child.communicate(timeout=30)[0] == b"ran\n"
    wait_until(lambda: len(records(book)) == 4, "the record")
