# SPDX-License-Identifier: Apache-2.0
"""`dewar verify --level docker`: the command, and that it notices a missing wall.

test_escape.py runs it with all walls in place.
"""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from e2e.conftest import merged_env
from e2e.helpers import is_in_use, wait_until
from escape import mutate
from escape.mutants import DOCKER_MUTANTS

TMP = pathlib.Path("/tmp")
FEW = ("read-flag-by-path,ask-ps,meet-by-sysv-shm,read-kernel-command-line,spawn-many,"
       "lock-workspace-file")


def verify(engine, *options, **kwargs):
    return subprocess.run([engine.dewar, "verify", "--level", "docker", *options],
                          env=merged_env({"DOCKER_HOST": engine.host}), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=600, check=False, **kwargs)


def planted():
    """The folders of attack ranges, except those that another run of the tests uses."""
    return {path.name for path in TMP.glob("dewar-verify-*") if not is_in_use("folders", str(path))}


@pytest.mark.engines("docker")
@pytest.mark.parametrize("mutant", DOCKER_MUTANTS, ids=lambda m: m["name"])
def test_a_missing_wall_turns_rows_red(engine, monkeypatch, mutant):
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    rows = mutate.red_rows(mutant, os.path.dirname(engine.dewar), mutate.choice(mutant["red"]))
    for attack in mutant["red"]["docker"]:
        assert rows[attack, "docker"]["verdict"] == "escaped", rows[attack, "docker"]


@pytest.mark.exclusive
@pytest.mark.engines("docker", "podman")
def test_nothing_is_left_behind(engine):
    """Attacks in C, shell, JavaScript and with two cells leave neither files nor a container."""
    containers, folders = engine.api.containers(), planted()
    done = verify(engine, "--json", "--only", FEW)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["level"] for row in rows} == {"docker"}
    assert {row["verdict"] for row in rows} == {"contained", "not_promised"}, rows
    assert engine.api.containers() <= containers
    assert planted() <= folders


@pytest.mark.exclusive
@pytest.mark.engines("docker")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_can_be_interrupted(engine, how):
    containers, folders = engine.api.containers(), planted()
    with subprocess.Popen([engine.dewar, "verify", "--level", "docker"],
                          env=merged_env({"DOCKER_HOST": engine.host}), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        wait_until(lambda: engine.api.containers() - containers, "an attack")
        child.send_signal(how)
        _, stderr = child.communicate(timeout=60)
    assert child.returncode == 125
    assert b"stopped by a signal" in stderr
    assert engine.api.containers() <= containers
    assert planted() <= folders


@pytest.mark.engines("docker")
def test_verify_accepts_an_image(engine):
    """In an image without the interpreter an attack cannot tell; those in C need none."""
    done = verify(engine, "--json", "--image", "dewar-test/bare:1", "--only",
                  "read-flag-by-path,read-shadow")
    rows = {row["attack"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["read-flag-by-path"]["verdict"] == "contained"
    assert rows["read-shadow"]["verdict"] == "cannot_tell"
    assert "python" in rows["read-shadow"]["detail"], rows


@pytest.mark.engines("docker")
@pytest.mark.parametrize("args, words", [
    (("--level", "container", "--runtime", "runsc"), b"--level docker"),
    (("--image", "alpine:3.20"), b"--level docker"),
])
def test_an_impossible_request_is_refused_with_a_reason(engine, args, words):
    done = subprocess.run([engine.dewar, "verify", *args], capture_output=True, timeout=30,
                          env=merged_env({"DOCKER_HOST": engine.host}), check=False)
    assert done.returncode == 125 and words in done.stderr, done


@pytest.mark.engines("docker")
def test_a_missing_runtime_proves_nothing(engine):
    done = verify(engine, "--json", "--runtime", "no-such", "--only", "read-flag-by-path")
    row, = json.loads(done.stdout)["rows"]
    assert row["verdict"] == "cannot_tell" and "no-such" in row["detail"], row
