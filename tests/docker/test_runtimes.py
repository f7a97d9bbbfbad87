# SPDX-License-Identifier: Apache-2.0
"""--runtime: passed to the engine, shown in the proof, and refused if the engine lacks it."""

import json
import subprocess

import pytest

from e2e.helpers import assert_ended, assert_success, brief

KERNEL = "import os; print(os.uname().release)"


@pytest.mark.engines("docker")
def test_the_program_runs_under_gvisor(engine):
    r = engine.python(KERNEL, "--runtime", "runsc")
    assert_success(r)
    plain = engine.python(KERNEL)
    assert r["stdout"] != plain["stdout"], "the kernel would be the host's"
    assert (r["proof"]["runtime"], plain["proof"]["runtime"]) == ("runsc", "runc")


@pytest.mark.engines("docker", "podman")
@pytest.mark.parametrize("name", ["no-such-runtime", "kata", "../../bin/sh", "a b", "runc;id", "ü",
                                  "x" * 300], ids=range(7))
def test_an_unknown_runtime_is_unavailable(engine, name):
    before = engine.api.containers()
    r = engine.python("print('ran')", "--runtime", name)
    assert (r["status"], r["reason"], r["stdout"]) == ("error", "unavailable", ""), brief(r)
    assert "runtime" in r["hint"], brief(r)
    assert r["metadata"]["ok"] is False and r["proof"]["achieved"] is None
    assert engine.api.containers() <= before


@pytest.mark.engines("docker", "podman")
def test_a_request_selects_the_runtime(engine):
    request = {"language": "python", "code": "print('ran')", "level": "docker",
               "image": "python:3.11-slim", "pull": "never", "runtime": "no-such-runtime"}
    done = ask(engine, request)
    assert_ended(done, "error", "unavailable", "no-such-runtime")
    done = ask(engine, {**request, "runtime": None})
    assert_success(done)
    done = ask(engine, {**request, "runtime": "runc"})
    assert_success(done)
    assert done["proof"]["runtime"] == "runc", brief(done)


def ask(engine, request):
    argv, env = engine.argv()
    done = subprocess.run([argv[0], "run", "--json", "--request", "-"], env=env,
                          input=json.dumps(request).encode(), capture_output=True, timeout=60,
                          check=False)
    return json.loads(done.stdout)


@pytest.mark.parametrize("option", [("--runtime", "runsc"), ("--pull", "always")],
                         ids=["runtime", "pull"])
@pytest.mark.parametrize("level", ["container", "process", "none"])
def test_other_levels_refuse_a_runtime(run, level, option):
    """An option must not be accepted and then ignored."""
    done = run("run", "--level", level, *option, "python", "-c", "print('ran')")
    assert done.returncode == 125 and done.stdout == b"", done
    assert option[0][2:].encode() in done.stderr
