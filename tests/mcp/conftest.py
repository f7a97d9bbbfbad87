# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the MCP tests: the official clients, and servers to test them with."""

import fcntl
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))

# pylint: disable=wrong-import-position
from daemon import PATIENCE_S, clean_env, end_with_parent  # noqa: E402
from e2e.conftest import dewar, must  # noqa: E402,F401
from served import Server  # noqa: E402

CONFIG = {"runs": {"max": {"memory": "1G"}}}  # JSON is YAML
ARCHES = {"x86_64": "x64", "aarch64": "arm64"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests that use npm's clients belong to the full tier."""
    for item in items:
        if "node" in item.fixturenames:
            item.add_marker(pytest.mark.slow)


def cache_folder():
    base = os.environ.get("DEWAR_CACHE") or os.path.expanduser("~/.cache/dewar")
    lock = (HERE / "package-lock.json").read_bytes() + (HERE / "package.json").read_bytes()
    return pathlib.Path(base) / "mcp" / hashlib.sha256(lock).hexdigest()[:16]


def install(folder):
    """Install the packages of the lock file completely, or fail. No scripts of packages are run.

    Not `npm ci`: it insists on optional packages for other systems, which not every
    registry has.
    """
    temporary = folder.with_name(folder.name + ".new")
    last = None
    for _ in range(3):  # a registry may be busy
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, temporary)
        last = subprocess.run(["npm", "install", "--no-save", "--ignore-scripts", "--no-audit",
                               "--no-fund"],
                              cwd=temporary, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600, check=False)
        if last.returncode == 0:
            temporary.rename(folder)
            return
    pytest.fail("npm install: %s" % last.stdout.decode("utf-8", "replace")[-3000:])


class Node:
    """The clients' own Node, and what npm installed beside it."""

    def __init__(self, folder):
        self.folder = folder
        # The Node versions of distributions are too old for the newest clients.
        program = folder / "node_modules" / ("node-linux-" + ARCHES[os.uname().machine])
        self.path = str(program / "bin") + ":" + os.environ["PATH"]

    def run(self, script, *args, timeout=PATIENCE_S * 5, env=None):
        """Run a program of node_modules/.bin or our own script: a CompletedProcess of text."""
        program = self.folder / "node_modules" / ".bin" / script
        argv = [str(program)] if program.exists() else ["node", str(self.folder / script)]
        with tempfile.TemporaryDirectory(prefix="dewar-mcp-home-") as home:
            changes = {"PATH": self.path, "HOME": home, "NO_COLOR": "1", **(env or {})}
            return subprocess.run([*argv, *map(str, args)], cwd=self.folder,
                                  env=clean_env(changes), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  encoding="utf-8", errors="replace", timeout=timeout,
                                  preexec_fn=end_with_parent, check=False)


@functools.lru_cache(maxsize=1)
def prepare():
    """Install the npm packages, once for each lock file; returns a Node."""
    folder = cache_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(folder.name + ".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            install(folder)
        # Node searches for modules from the script's folder upwards.
        for script in HERE.glob("*.mjs"):
            # Not copied over the old one: another test may be starting it, and would run
            # an empty script.
            shutil.copy(script, folder / "new")
            (folder / "new").rename(folder / script.name)
    return Node(folder)


@pytest.fixture
def node(must):  # noqa: F811
    must(shutil.which("npm") is not None, "npm is not installed")
    must(os.uname().machine in ARCHES, "no Node for this kind of machine")
    return prepare()


@pytest.fixture(scope="session")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "dewar.yaml"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def server(dewar, config):  # noqa: F811
    """The installed daemon."""
    it = Server(pathlib.Path(dewar).with_name("dewar-serve"), config)
    yield it
    assert it.finish() == 0, it.log[-10:]


@pytest.fixture(scope="module")
def fixtures(dewar, config):  # noqa: F811
    """The daemon with the tools that the conformance suite calls."""
    it = Server(pathlib.Path(dewar).with_name("dewar-serve-fixtures"), config)
    yield it
    assert it.finish() == 0, it.log[-10:]
