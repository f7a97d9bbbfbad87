# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of level docker: real engines, and dewar that uses them."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from e2e.conftest import dewar, is_root, merged_env, must, run, run_json  # noqa: F401
from e2e.helpers import wait_until
from engine import engines, images
from fakes.faulty_engine import FaultyEngine

BEDS = ("docker", "podman", "docker+runsc")
WARM = "docker-warm"  # the test runs in a standby container too, if its module sets WARM = True
REGISTRY = "127.0.0.1:5000"


def pytest_configure(config):
    config.addinivalue_line("markers", "engines(name, ...): run with these only")


def pytest_generate_tests(metafunc):
    if "engine" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("engines")
        beds = list(marker.args if marker else BEDS)
        if getattr(metafunc.module, "WARM", False) and "docker" in beds:
            beds.append(WARM)
        # One worker runs all tests of a bed, so that there is one engine.
        metafunc.parametrize("engine", [
            pytest.param(bed, marks=pytest.mark.xdist_group(re.sub("[^a-z]", "-", bed)))
            for bed in beds], indirect=True)


def pytest_collection_modifyitems(items):
    """The variable DEWAR_BED selects the tests of one bed."""
    only = os.environ.get("DEWAR_BED")
    if only:
        items[:] = [item for item in items if not hasattr(item, "callspec") or
                    item.callspec.params.get("engine", only) == only]


class Bed:
    """A running engine, the runtime to request from it, and dewar."""

    def __init__(self, name, engine, dewar_path):
        self.name = name
        self.warm = name == WARM
        self.kind, _, self.runtime = name.replace("-warm", "").partition("+")
        self.engine = engine
        self.api = engine.api
        self.host = engine.host
        self.dewar = dewar_path

    def argv(self, *args, host=None):
        options = ["--level", "docker"]
        if self.warm:
            options += ["--warm", "standby"]
        if self.runtime:
            options += ["--runtime", self.runtime]
            if "--pids" not in args:
                options += ["--pids", "200"]  # gVisor's own threads use about forty
        return ([self.dewar, "run", *options, *map(os.fspath, args)],
                merged_env({"DOCKER_HOST": host or self.host}))

    def run(self, *args, input=None, timeout=90, host=None, **kwargs):
        """dewar run --level docker with these arguments, as a CompletedProcess of bytes."""
        argv, env = self.argv(*args, host=host)
        stdin = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        return subprocess.run(argv, env=env, timeout=timeout, capture_output=True, check=False,
                              **stdin, **kwargs)

    def popen(self, *args, host=None, **kwargs):
        argv, env = self.argv(*args, host=host)
        kwargs = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                  **kwargs}
        return subprocess.Popen(argv, env=env, **kwargs)

    def json(self, *args, **kwargs):
        """The result of dewar run --json."""
        return parsed(self.run("--json", *args, **kwargs))

    def python(self, code, *options, **kwargs):
        return self.json(*options, "python", "-c", code, **kwargs)

    def plain(self, *command, image="python:3.11-slim", **host):
        """The control: the same command in a container without Dewar's walls: (status, stdout,
        stderr)."""
        if self.runtime:
            host.setdefault("Runtime", self.runtime)
        container = self.api.create(image, command, **host)
        try:
            self.api.start(container)
            return (self.api.wait(container), *self.api.output(container))
        finally:
            self.api.remove(container)

    def plain_python(self, code, **host):
        return self.plain("python3", "-c", code, **host)


def parsed(done):
    try:
        return json.loads(done.stdout.decode("utf-8"))
    except ValueError:
        pytest.fail("not JSON: exit status %d, stdout %r, stderr %r"
                    % (done.returncode, done.stdout[:2000], done.stderr[:2000]))


@pytest.fixture(scope="session")
def started():
    """started(kind): the engine of that kind, started once, or the reason why it cannot start."""
    known = {}

    def start(kind):
        if kind not in known:
            try:
                known[kind] = engines.start(kind)
            except engines.CannotStart as reason:
                known[kind] = str(reason)
                print("\nNO ENGINE: %s" % reason, file=sys.stderr)
        return known[kind]

    yield start
    for engine in known.values():
        if isinstance(engine, engines.Engine):
            engine.stop()


@pytest.fixture
def engine(request, started, must, dewar):  # noqa: F811
    """A Bed for each engine of BEDS, or for those of the mark `engines`."""
    kind, _, runtime = request.param.replace("-warm", "").partition("+")
    found = started(kind)
    must(isinstance(found, engines.Engine), found)
    if runtime:
        there = found.api.get("/info").get("Runtimes") or {}
        must(runtime in there, "%s: has no runtime %s" % (kind, runtime))
    return Bed(request.param, found, dewar)


@pytest.fixture
def faulty(engine, tmp_path):
    """A proxy in front of this engine, which fails at a chosen request."""
    with FaultyEngine(tmp_path, engine.engine.socket) as found:
        yield found


@pytest.fixture
def registry(engine, tmp_path):
    """Our registry, which this engine can reach; requests() returns the requests that it got."""
    log = tmp_path / "registry.log"
    log.touch()

    class Registry:
        host = REGISTRY

        @staticmethod
        def requests():
            return log.read_text(encoding="utf-8").splitlines()[1:]

        @staticmethod
        def image(name, tag="1"):
            return "%s/%s:%s" % (REGISTRY, name, tag)

    script = pathlib.Path(engines.__file__).parent / "registry.py"
    with engine.engine.inside("/usr/bin/python3", script, images.bare_tar(), log) as server:
        try:
            wait_until(lambda: "up" in log.read_text(encoding="utf-8"), "the registry")
            yield Registry
        finally:
            server.kill()
