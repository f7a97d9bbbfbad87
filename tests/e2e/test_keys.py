# SPDX-License-Identifier: Apache-2.0
"""Keys are shown once, kept as hashes, and listed and revoked by their ids."""

import json
import os
import re
import subprocess

import pytest

pytestmark = pytest.mark.privilege

NO_LIMITS = {"timeout_ms": None, "memory_bytes": None, "cpu_percent": None, "output_bytes": None,
             "tmp_bytes": None, "pids": None, "files": None, "io_bytes": None}


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


@pytest.fixture
def keys(run, state):
    """keys(*words): the JSON that `dewar keys` prints."""

    def ask(*words, status=0):
        done = run("keys", *words, "--state", state, "--json")
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout)

    return ask


def test_a_key_is_printed_once_without_other_text(run, keys, state):
    done = run("keys", "add", "ci", "--state", state)
    assert done.returncode == 0
    match = re.fullmatch(rb"dewar_([0-9a-f]{8})_[A-Za-z0-9_-]{43}\n", done.stdout)
    assert match
    assert b"not shown again" in done.stderr and b"dewar_" not in done.stderr
    (listed,) = keys("list")
    assert listed["id"] == match.group(1).decode() and listed["name"] == "ci"
    assert "key" not in listed
    for file in state.iterdir():
        assert done.stdout.strip()[15:] not in file.read_bytes()


def test_only_the_owner_can_access_the_database(run, keys, state):
    keys("add", "ci")
    assert state.stat().st_mode & 0o777 == 0o700
    for file in state.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600
    (state / "keys.db").chmod(0o644)
    for words in (["add", "x"], ["list"], ["revoke", "00000000"]):
        done = run("keys", *words, "--state", state)
        assert done.returncode == 125 and b"mode 0600" in done.stderr
    (state / "keys.db").chmod(0o600)
    state.chmod(0o777)
    assert b"mode 0700" in run("keys", "list", "--state", state).stderr


def test_a_key_without_options_may_run_and_has_no_limits(keys):
    made = keys("add", "ci")
    key = made.pop("key")
    assert made == {"id": key[6:14], "name": "ci", "created": made["created"], "revoked": None,
                    "scopes": ["run"], "levels": None, "concurrent": None,
                    "runs_per_minute": None, "cpu_seconds_per_day": None, "max": NO_LIMITS}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", made["created"])
    assert keys("list") == [made]


def test_all_permissions_and_limits_of_a_key_are_stored(keys):
    made = keys("add", "näme (1)", "--scope", "run,audit,approve,admin", "--levels",
                "container,docker", "--concurrent", "4", "--runs-per-minute", "4294967295",
                "--cpu-seconds-per-day", "100000000", "--max-timeout", "500ms", "--max-memory", "1G",
                "--max-cpus", "1.5", "--max-output", "1M", "--max-tmp", "2M", "--max-pids", "7",
                "--max-files", "8", "--max-io", "3M")
    del made["key"]
    assert made["name"] == "näme (1)"
    assert made["scopes"] == ["run", "admin", "audit", "approve"]
    assert made["levels"] == ["container", "docker"]
    assert (made["concurrent"], made["runs_per_minute"], made["cpu_seconds_per_day"]) == \
        (4, 4294967295, 100000000)
    assert made["max"] == {"timeout_ms": 500, "memory_bytes": 1 << 30, "cpu_percent": 150,
                           "output_bytes": 1 << 20, "tmp_bytes": 2 << 20, "pids": 7, "files": 8,
                           "io_bytes": 3 << 20}
    assert keys("list") == [made]


def test_the_list_shows_every_highest_limit(run, keys, state):
    keys("add", "small", "--max-timeout", "90s", "--max-memory", "1G", "--max-cpus", "150%")
    done = run("keys", "list", "--state", state)
    assert done.stdout.decode().endswith(
        " small; timeout at most 90s; memory at most 1G; cpus at most 150%\n")


def test_revoked_keys_stay_in_the_list(run, keys, state):
    first, second = keys("add", "a"), keys("add", "b")
    assert first["key"] != second["key"]
    assert keys("revoke", first["id"]) == {"revoked": first["id"]}
    listed = keys("list")
    assert [key["name"] for key in listed] == ["a", "b"]
    assert listed[0]["revoked"] and listed[1]["revoked"] is None
    # To revoke it again changes nothing.
    keys("revoke", first["id"])
    assert keys("list") == listed
    lines = run("keys", "list", "--state", state).stdout.decode().splitlines()
    assert lines[0].startswith(first["id"]) and " revoked " in lines[0]
    assert lines[1].startswith(second["id"]) and " valid " in lines[1]


def test_without_keys_there_is_an_empty_list_and_no_file(run, keys, state):
    assert keys("list") == []
    done = run("keys", "list", "--state", state)
    assert done.returncode == 0 and done.stdout == b"" and b"no keys" in done.stderr
    assert run("keys", "revoke", "00000000", "--state", state).returncode == 125
    assert not state.exists()


def test_a_key_that_could_not_be_printed_is_revoked(dewar, keys, state):
    with open("/dev/full", "wb") as full:
        for more in ([], ["--json"]):
            done = subprocess.run([dewar, "keys", "add", "a", "--state", state, *more],
                                  stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
            assert done.returncode == 125 and b"No space left" in done.stderr
    assert [bool(key["revoked"]) for key in keys("list")] == [True, True]


def test_keys_are_stored_in_the_daemons_default_folder(run, is_root, tmp_path, must):
    must(not is_root, "root's place is the host's own")
    env = {"XDG_STATE_HOME": str(tmp_path)}
    assert run("keys", "add", "ci", env=env).returncode == 0
    assert (tmp_path / "dewar" / "keys.db").exists()


def test_root_does_not_touch_another_users_keys(run, keys, state, is_root, must):
    must(is_root, "only root can")
    keys("add", "ci")
    os.chown(state / "keys.db", 12345, 12345)
    done = run("keys", "add", "x", "--state", state)
    assert done.returncode == 125 and b"12345" in done.stderr


@pytest.mark.parametrize("words, says", [
    ([], "no subcommand given; must be add, list or revoke"),
    (["ad", "x"], "did you mean add?"),
    (["frobnicate"], "must be add, list or revoke"),
    (["add"], "needs NAME"),
    (["add", "a", "b"], 'unexpected argument "b"'),
    (["add", ""], "1 to 63 bytes"),
    (["add", "x" * 64], "too long for a name"),
    (["add", "a\nb"], "must not contain control characters"),
    (["add", b"a\xff"], "UTF-8"),
    (["add", "a", "--scope", "runs"], "did you mean run?"),
    (["add", "a", "--scope", ""], "--scope must be run, admin, audit or approve, not \"\""),
    (["add", "a", "--scope", "run,"], "--scope must be run, admin, audit or approve, not \"\""),
    (["add", "a", "--levels", "contaner"], "did you mean container?"),
    (["add", "a", "--levels", ",".join(["container"] * 8)], "too many"),
    (["add", "a", "--concurrent", "0"], "more than 0"),
    (["add", "a", "--runs-per-minute", "0"], "more than 0"),
    (["add", "a", "--runs-per-minute", "4294967296"], "too large"),
    (["add", "a", "--cpu-seconds-per-day", "-1"], "not a whole number"),
    (["add", "a", "--max-memory", "5"], "--max-memory must be at least 1M"),
    (["add", "a", "--max-timeout", "100000h"], "--max-timeout must be at most 604800s"),
    (["list", "x"], 'unexpected argument "x"'),
    (["list", "--scope", "run"], "`dewar keys list` does not accept --scope"),
    (["revoke"], "needs ID"),
    (["revoke", "xyz"], "not the id of a key"),
    (["revoke", "0000000G"], "not the id of a key"),
    (["revoke", "00000000", "--concurrent", "1"], "does not accept --concurrent"),
])
def test_wrong_arguments_are_refused(run, state, words, says):
    done = run("keys", *words, "--state", state)
    assert done.returncode == 125 and done.stdout == b""
    assert says in done.stderr.decode(errors="replace")
    assert len(done.stderr.splitlines()) == 1
    if (state / "keys.db").exists():
        assert run("keys", "list", "--json", "--state", state).stdout == b"[]\n"


def test_a_damaged_database_is_reported(run, keys, state):
    keys("add", "ci")
    for file in state.iterdir():
        file.unlink()
    (state / "keys.db").write_bytes(b"no database at all " * 300)
    (state / "keys.db").chmod(0o600)
    done = run("keys", "list", "--state", state)
    assert done.returncode == 125 and str(state).encode() in done.stderr
