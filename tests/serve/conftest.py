# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the daemon's tests: the real daemon, and clients for it."""

import pathlib
import shutil
import tempfile

import pytest

from daemon import Daemon, keys, write_policy
from e2e.conftest import dewar, is_root, must  # noqa: F401

# Settings for daemons that serve few runs, and that are stopped while some are running.
COLD = {"pool": {"disabled": True}, "runs": {"drain": 1}}


def merged(*configs):
    """Merge configurations; a later one overrides an earlier one."""
    result = {}
    for config in configs:
        for name, value in config.items():
            if isinstance(value, dict) and isinstance(result.get(name), dict):
                result[name] = merged(result[name], value)
            else:
                result[name] = value
    return result


def short_folder():
    """A folder with a short name: the path of a socket has a maximum length."""
    return pathlib.Path(tempfile.mkdtemp(prefix="dewar-serve-test-"))


@pytest.fixture(scope="module")
def daemon(dewar):  # noqa: F811
    """A daemon with warm cells and nearly all defaults, shared by the tests of a module."""
    folder = short_folder()
    it = Daemon(dewar, folder / "state", {"runs": {"drain": 1}})
    yield it
    it.finish()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def serve(dewar):  # noqa: F811
    """serve(config, ...): a daemon for one test, without warm cells unless configured."""
    folder = short_folder()
    started = []

    def start(config=None, state=None, **kwargs):
        it = Daemon(dewar, state or folder / "state", merged(COLD, config or {}), **kwargs)
        started.append(it)
        return it

    start.folder = folder
    yield start
    for it in started:
        it.finish()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def keyed(serve, dewar):  # noqa: F811
    """keyed(config, name=[words of `dewar keys add`]): a daemon, and the text of each key by name.

    There is always the admin key `boss`, which the methods of Daemon use by default.
    """

    def start(config=None, **wanted):
        state = serve.folder / "state"
        made = {name: keys(dewar, state, "add", name, *words)
                for name, words in {"boss": ["--scope", "run,admin,audit"], **wanted}.items()}
        it = serve(config, state=state)
        it.made = made
        it.key = made["boss"]["key"]
        return it, {name: key["key"] for name, key in made.items()}

    return start


@pytest.fixture
def judged(keyed, serve):
    """judged(policy, config, name=[words of `dewar keys add`]): a keyed daemon with that policy.

    Besides boss there are the keys ann (scope run), joe (approve) and sue (approve and run); the
    methods of Daemon use ann's.
    """

    def start(policy, config=None, **wanted):
        path = serve.folder / "policy.yaml"
        write_policy(path, policy)
        people = {"ann": ["--scope", "run"], "joe": ["--scope", "approve"],
                  "sue": ["--scope", "approve,run"], **wanted}
        it, text = keyed(merged({"policy": str(path)}, config or {}), **people)
        it.policy_path = path
        it.texts = text
        it.key = text["ann"]
        return it

    return start
