# SPDX-License-Identifier: Apache-2.0
"""Without an engine: a helpful result in time, and never another level."""

import json
import os
import socket
import subprocess
import tempfile
import time

import pytest

from e2e.conftest import merged_env
from e2e.helpers import MARGIN_S, assert_ended, brief, wait_until
from fakes.faulty_engine import FaultyEngine, garbage, hang, hang_up, says

CODE = ("python", "-c", "print('ran')")


@pytest.fixture
def ask(dewar):
    """ask(DOCKER_HOST, *options): the result of a run that must not happen."""

    def run(host, *options, before=(), **env):
        done = subprocess.run(
            [*before, dewar, "run", "--json", "--level", "docker", *options, *CODE],
            env=merged_env({"DOCKER_HOST": host, **env}), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=60, check=False)
        assert done.returncode == 125, done
        return json.loads(done.stdout)

    return run


def assert_no_engine(r, *hint_words):
    assert_ended(r, "error", "unavailable", *hint_words)
    assert r["stdout"] == "" and r["exit_code"] is None, brief(r)
    assert r["proof"]["achieved"] is None and r["metadata"]["sandbox_level"] is None
    assert r["metadata"]["ok"] is False and r["metadata"]["sandbox"] is True
    assert r["metadata"]["error"], r["metadata"]


def test_no_socket(ask, tmp_path):
    assert_no_engine(ask("unix://%s/none.sock" % tmp_path), "none.sock")


def test_without_any_socket_the_hint_names_the_usual_places(ask, tmp_path):
    """The hint names Docker's and Podman's sockets, or the variable that names another one."""
    for path in "/var/run/docker.sock", "/run/podman/podman.sock":
        if os.path.exists(path):
            pytest.skip("there is an engine at %s" % path)
    r = ask(None, XDG_RUNTIME_DIR=str(tmp_path))
    assert_no_engine(r, "DOCKER_HOST")


def test_a_missing_library_makes_the_run_unavailable(ask, tmp_path):
    """Without libcurl the dynamic loader ends dewar-docker with 127, before or after a request."""
    for pause in "", "sleep 0.2;":
        program = tmp_path / "dewar-docker"
        program.write_text("#!/bin/sh\n%s exit 127\n" % pause)
        program.chmod(0o755)
        r = ask("unix://%s/none.sock" % tmp_path, DEWAR_DOCKER=str(program))
        assert_no_engine(r, "apt-get install libcurl4")


def test_a_socket_without_a_listener(ask, tmp_path):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "dead.sock"))
    assert_no_engine(ask("unix://%s/dead.sock" % tmp_path), "dead.sock")


def test_a_file_that_is_not_a_socket(ask, tmp_path):
    (tmp_path / "file").write_text("x")
    assert_no_engine(ask("unix://%s/file" % tmp_path))
    assert_no_engine(ask("unix://%s" % tmp_path))


def test_no_permission(ask, is_root, must):
    must(is_root, "only root can become another user")
    nobody = 65534
    # Not pytest's own folder, which no other user can enter: the error would differ.
    with tempfile.TemporaryDirectory(prefix="test-dewar-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        record = os.path.join(folder, "state")
        os.mkdir(record)
        os.chown(record, nobody, nobody)
        path = os.path.join(folder, "closed.sock")
        with socket.socket(socket.AF_UNIX) as closed:
            closed.bind(path)
            os.chmod(path, 0o600)
            closed.listen()
            r = ask("unix://" + path, XDG_STATE_HOME=record,
                    before=("setpriv", "--reuid=%d" % nobody, "--regid=%d" % nobody,
                            "--clear-groups"))
    assert_no_engine(r, "closed.sock")
    assert "ermission" in r["hint"] or "group" in r["hint"], brief(r)


@pytest.mark.parametrize("host", ["tcp://127.0.0.1:2375", "ssh://user@host", "http://x", "npipe:x",
                                  "unix://", "unix://relative.sock", "/no/scheme.sock", "nonsense",
                                  "unix://" + "/x" * 200, "unix:///tmp/a\nb", "fd://"])
def test_an_unsupported_address_is_refused(ask, host):
    """No other address is used in its place."""
    r = ask(host)
    assert_no_engine(r, "DOCKER_HOST")


def test_an_empty_address_counts_as_unset(ask, tmp_path):
    for path in "/var/run/docker.sock", "/run/podman/podman.sock":
        if os.path.exists(path):
            pytest.skip("there is an engine at %s" % path)
    assert_no_engine(ask("", XDG_RUNTIME_DIR=str(tmp_path)))


# ---- the socket belongs to a server that is not an engine ----

NOT_AN_ENGINE = {
    "hangs": hang, "hangs up": hang_up, "garbage": garbage,
    "500": says(500, '{"message":"out of order"}'), "404": says(404, "not here", "text/plain"),
    "a web page": says(200, "<html>welcome</html>", "text/html"), "empty": says(200, ""),
    "not an object": says(200, "[1, 2, 3]"), "half an object": says(200, '{"ApiVersion": "1.4'),
    "an old one": says(200, '{"ApiVersion": "1.12", "MinAPIVersion": "1.12"}'),
    "one of the future": says(200, '{"ApiVersion": "9.99", "MinAPIVersion": "9.50"}'),
    "deep": says(200, "[" * 100000),
}


@pytest.mark.parametrize("kind", NOT_AN_ENGINE)
def test_a_server_that_is_not_an_engine(ask, tmp_path, kind):
    with FaultyEngine(tmp_path) as fake:
        fake.fault("", NOT_AN_ENGINE[kind])
        started = time.monotonic()
        r = ask(fake.host, "--timeout", "3s")
        took = time.monotonic() - started
    assert took < 3 + 2 * MARGIN_S, "an answer by the deadline"
    # For a server that sends nothing either status is right.
    assert r["status"] in ("error", "timeout"), brief(r)
    assert_no_engine(r)


def test_a_hung_engine_can_be_interrupted(dewar, tmp_path):
    with FaultyEngine(tmp_path) as fake:
        fake.fault("", hang)
        with subprocess.Popen([dewar, "run", "--level", "docker", *CODE],
                              env=merged_env({"DOCKER_HOST": fake.host}),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as cell:
            wait_until(lambda: fake.requests, "its question")
            cell.terminate()
            out, _ = cell.communicate(timeout=30)
            assert out == b"" and cell.returncode == 128 + 15


# ---- levels ----

def test_another_level_is_used_only_if_it_was_named(ask, dewar, tmp_path):
    host = "unix://%s/none.sock" % tmp_path
    done = subprocess.run([dewar, "run", "--json", "--level", "docker,container", *CODE],
                          env=merged_env({"DOCKER_HOST": host}), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)
    r = json.loads(done.stdout)
    assert r["stdout"] == "ran\n" and r["metadata"]["sandbox_level"] == "container"
    assert (r["proof"]["requested"], r["proof"]["achieved"]) == ("docker,container", "container")
    assert_no_engine(ask(host, "--level", "docker,microvm"))


@pytest.mark.parametrize("variable", ["CODE_EXEC_SANDBOX", "DEWAR_LEVEL"])
def test_docker_as_the_default_level(dewar, tmp_path, variable):
    env = merged_env({"DOCKER_HOST": "unix://%s/none.sock" % tmp_path, variable: "docker"})
    done = subprocess.run([dewar, "run", "--json", *CODE], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)
    assert_no_engine(json.loads(done.stdout))


def test_the_doctor_reports_the_missing_engine(dewar, tmp_path):
    env = merged_env({"DOCKER_HOST": "unix://%s/none.sock" % tmp_path})
    done = subprocess.run([dewar, "doctor"], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)
    assert b"docker" in done.stdout and b"none.sock" in done.stdout, done
