# SPDX-License-Identifier: Apache-2.0
"""Standby containers: each is used once, has all walls, and is removed with its pool.

test_walls and test_ends also run in standby containers: they check that walls and limits are
those of a cold run.
"""

import json
import os
import pathlib
import signal
import subprocess

import pytest

import e2e.pool_runs
from e2e.conftest import merged_env
from e2e.helpers import assert_success, brief, wait_until

pytestmark = pytest.mark.engines("docker", "podman")

POOL = [str(pathlib.Path(e2e.pool_runs.__file__))]


def pool(engine, times, **request):
    """The results of several runs (times) of one request in one pool."""
    library = os.path.join(os.path.dirname(engine.dewar), "libdewar.so")
    done = subprocess.run(
        ["/usr/bin/python3", *POOL, library, str(times)], capture_output=True, timeout=120,
        input=json.dumps({"language": "python", "level": "docker", **request}).encode(),
        env=merged_env({"DOCKER_HOST": engine.host, **helpers_of(engine.dewar)}), check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def helpers_of(dewar):
    """Point the library to dewar's helpers: it searches them beside its program, here Python."""
    return {"DEWAR_" + name.upper(): "%s-%s" % (dewar, name)
            for name in ("launch", "docker", "guest")}


def test_a_warm_run_is_reported_as_warm(engine):
    r = engine.python("print(1)", "--warm", "standby")
    assert_success(r)
    assert r["stdout"] == "1\n" and r["metadata"]["warm"] is True
    assert engine.python("print(1)")["metadata"]["warm"] is False


def test_a_container_is_used_once(engine):
    """A run finds no files, processes or names of the run before."""
    before = engine.api.containers()
    code = ("import os\nprint(sorted(os.listdir('/tmp')), len([n for n in os.listdir('/proc')"
            " if n.isdigit()]))\nopen('/tmp/left', 'w')\n"
            "if os.fork() == 0:\n    import time; os.setsid(); time.sleep(60)")
    results = pool(engine, 4, code=code)
    for r in results:
        assert_success(r)
    assert len({r["stdout"] for r in results}) == 1, [r["stdout"] for r in results]
    assert "left" not in results[-1]["stdout"]
    assert any(r["metadata"]["warm"] for r in results), [brief(r) for r in results]
    assert engine.api.containers() <= before, "containers end with the pool"


def test_requests_that_cannot_be_warm_run_cold(engine, tmp_path):
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "in.txt").write_text("host")
    r = engine.python("print(open('in.txt').read())", "--warm", "standby", "--workspace", folder)
    assert r["stdout"] == "host\n" and r["metadata"]["warm"] is False, brief(r)


def test_the_next_start_removes_the_containers_of_a_killed_pool(engine):
    """Containers that were only waiting are removed, too."""
    before = engine.api.containers()
    with engine.popen("--warm", "standby", "python", "-c",
                      "print('up', flush=True)\nwhile True: pass") as cell:
        assert cell.stdout.readline() == b"up\n"
        made = engine.api.containers() - before
        assert made
        cell.send_signal(signal.SIGKILL)
        cell.wait(10)
    engine.python("print('next')")
    wait_until(lambda: not made & engine.api.containers(), "the sweep")


def test_a_pool_with_a_missing_image_returns_an_error(engine):
    r = engine.python("print(1)", "--warm", "standby", "--image", "no-such:1", "--pull", "never")
    assert (r["status"], r["reason"], r["stdout"]) == ("error", "unavailable", ""), brief(r)
