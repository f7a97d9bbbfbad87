# SPDX-License-Identifier: Apache-2.0
"""What the tests of the daemon share: the daemon itself, with real clients."""

import pathlib
import shutil
import tempfile

import pytest

from daemon import Daemon, keys
from e2e.conftest import dewar, is_root, must  # noqa: F401

# For daemons that few runs are asked of, and that are ended while some go on.
COLD = {"pool": {"disabled": True}, "runs": {"drain": 1}}


def merged(*configs):
    """One config of several; what is said later goes before."""
    result = {}
    for config in configs:
        for name, value in config.items():
            if isinstance(value, dict) and isinstance(result.get(name), dict):
                result[name] = merged(result[name], value)
            else:
                result[name] = value
    return result


def short_folder():
    """pytest's own are too long for the path of a socket."""
    return pathlib.Path(tempfile.mkdtemp(prefix="dewar-serve-test-"))


@pytest.fixture(scope="module")
def daemon(dewar):  # noqa: F811
    """One with warm cells and nearly every default, for all tests of a module."""
    folder = short_folder()
    it = Daemon(dewar, folder / "state", {"runs": {"drain": 1}})
    yield it
    it.finish()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def serve(dewar):  # noqa: F811
    """serve(config, ...): a daemon of the test's own, cold unless the config says otherwise."""
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
    """keyed(config, name=[words of `dewar keys add`]): a daemon, and each key's text by name.

    There is always an admin, whose key the daemon's own client uses.
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
