# SPDX-License-Identifier: Apache-2.0
"""`dewar verify --level docker`: the command, and whether it would notice a missing wall.

What it finds with the walls up is in test_escape.py.
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
    """The folders of attack ranges, but for those that are in use by another run of the tests."""
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
def test_nothing_is_left(engine):
    """In C, shell, JavaScript and with two cells; nothing on the host, and no container."""
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
def test_it_can_be_stopped(engine, how):
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
def test_an_image_can_be_named(engine):
    """One that lacks the interpreter tells nothing; what is in C needs none."""
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
def test_what_cannot_be_done_is_said(engine, args, words):
    done = subprocess.run([engine.dewar, "verify", *args], capture_output=True, timeout=30,
                          env=merged_env({"DOCKER_HOST": engine.host}), check=False)
    assert done.returncode == 125 and words in done.stderr, done


@pytest.mark.engines("docker")
def test_a_runtime_that_is_not_there_proves_nothing(engine):
    done = verify(engine, "--json", "--runtime", "no-such", "--only", "read-flag-by-path")
    row, = json.loads(done.stdout)["rows"]
    assert row["verdict"] == "cannot_tell" and "no-such" in row["detail"], row
