# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end tests: the built program, run as a user runs it."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest

import skips
from e2e.helpers import has_cgroups, name_of, ours_or_orphaned

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = re.compile("dewar-([0-9a-f]{16}|verify-.*)")  # the names of dewar's folders


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    if not has_cgroups():
        for item in items:
            if item.get_closest_marker("nproc"):
                item.add_marker(pytest.mark.exclusive)


@pytest.fixture(scope="session")
def dewar():
    path = pathlib.Path(os.environ.get("DEWAR") or ROOT / "build" / "dewar")
    assert os.access(path, os.X_OK), "no program at %s: run `make build`" % path
    return str(path)


@pytest.fixture(scope="session")
def run(dewar):
    """run(*args): dewar with these arguments, as a CompletedProcess of bytes."""

    def run_dewar(*args, input=None, timeout=60, env=None, **kwargs):
        """env is added to our environment; a value of None removes a variable."""
        if input is None:
            kwargs.setdefault("stdin", subprocess.DEVNULL)
        else:
            kwargs["input"] = input
        return subprocess.run([dewar, *map(os.fspath, args)], timeout=timeout,
                              env=merged_env(env), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, **kwargs)

    return run_dewar


@pytest.fixture(scope="session")
def run_json(run):
    """run_json(*args): the result of `dewar run --json *args`."""

    def run_dewar_json(*args, command="run", **kwargs):
        done = run(command, "--json", *args, **kwargs)
        try:
            return json.loads(done.stdout.decode("utf-8"))
        except ValueError:
            pytest.fail("not JSON: exit status %d, stdout %r, stderr %r"
                        % (done.returncode, done.stdout[:2000], done.stderr[:2000]))

    return run_dewar_json


def merged_env(changes):
    # Variables of the caller's shell must not affect a test, except those that select warm
    # cells for the whole suite and the folder of approvals.
    env = {name: value for name, value in os.environ.items()
           if name != "CODE_EXEC_SANDBOX" and (name in ("DEWAR_WARM", "DEWAR_APPROVALS") or
                                               not name.startswith("DEWAR_"))}
    for name, value in (changes or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


@pytest.fixture(scope="session")
def is_root():
    return os.geteuid() == 0


@pytest.fixture
def must(request):
    """must(condition, reason): continue only if the condition holds.

    Otherwise the test is skipped; where everything must work it fails, unless
    tests/accepted-skips permits the skip.
    """

    def must_hold(condition, reason):
        if condition:
            return
        suite = os.environ.get("DEWAR_SUITE", "e2e")
        name = "%s::%s" % (request.node.path.stem, request.node.name)
        if skips.must_work() and not skips.is_accepted(suite, name):
            pytest.fail("this must work here: " + reason, pytrace=False)
        pytest.skip(reason)

    return must_hold


@pytest.fixture(scope="session")
def host_snapshot():
    """host_snapshot(): everything that a run of this test could leave behind, compared with ==.

    Other test processes run cells at the same time. Only our descendants are listed, and only
    folders below TMPDIR, which each test process has for itself. Cgroups and the folders of
    attack ranges are shared by all tests; helpers.new_in() leaves out those of other tests.
    """

    def snapshot():
        return {
            "processes": processes(),
            "mounts": mounts(),
            "cgroups": cgroups(),
            "folders": sorted(str(p) for place in {tempfile.gettempdir(), "/tmp"}
                              for p in pathlib.Path(place).glob("dewar-*")
                              if OURS.fullmatch(p.name)),
        }

    return snapshot


def processes():
    """Our descendants, and orphaned launchers, by pid."""
    return {pid: name_of(pid) for pid in ours_or_orphaned({"dewar-launch"})}


def mounts():
    lines = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return sorted(line.split()[4] for line in lines)


def cgroups():
    return sorted(os.path.join(folder, name)
                  for folder, names, _ in os.walk("/sys/fs/cgroup")
                  for name in names if name.startswith("dewar-"))
