# SPDX-License-Identifier: Apache-2.0
"""Hosts on this machine: a level that works has its walls, another names a remedy."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from e2e.conftest import must  # noqa: F401
from engine import engines
from hosts import local

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "test-logs" / "hosts"

# The state of level container on each host, and a word that its remedy must contain.
CONTAINER = {
    "this machine": ("works", None),
    "chroot": ("unavailable", "chroot"),
    "seccomp filter": ("unavailable", "filter|seccomp"),
    "landlock refused": ("works", None),
    "masked proc": ("unavailable", "systempaths|unmask|/proc"),
    "docker container": ("unavailable", "seccomp"),
    "docker container, opened": ("works", None),
}


@pytest.fixture(scope="module")
def bundle():
    programs = pathlib.Path(os.environ.get("DEWAR") or ROOT / "build" / "dewar").parent
    with local.Bundle(programs, LOGS) as made:
        yield made


def mounts():
    return pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()


def test_every_host_is_expected():
    assert set(CONTAINER) == set(local.HOSTS)


@pytest.mark.parametrize("user", ["root", "plain"])
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.xdist_group(name.split(",")[0].replace(" ", "-")))
    for name in local.HOSTS])
def test_doctor_and_runs_agree_on_this_host(bundle, must, name, user):  # noqa: F811
    must(os.geteuid() == 0, "only root can make such a host")
    before = mounts()
    try:
        status, text, path = local.look(bundle, name, user)
    except engines.CannotStart as reason:
        must(False, str(reason))
    assert set(mounts()) == set(before), "the machine's own mounts have changed"
    assert path, "no row; it said:\n" + text[-3000:]
    row = json.loads(path.read_text(encoding="utf-8"))
    failed = ["%(name)s: %(detail)s" % c for c in row["checks"] if not c["ok"]]
    assert not failed and status == 0, "\n".join(failed) or text[-3000:]

    state, word = CONTAINER[name]
    level = row["levels"]["container"]
    assert level["state"] == state, level["why"]
    assert row["levels"]["process"]["state"] == "works", row["levels"]["process"]["why"]
    if word:
        assert re.search(word, level["remedy"]), level


@pytest.mark.parametrize("wall,damage", [
    ("container: net namespace as claimed", {"net": True}),
    ("container: connect to the host: refused (ns net)", {"net": True}),
])
def test_a_claim_without_its_wall_is_noticed(bundle, must, tmp_path, wall, damage):  # noqa: F811
    """core.py fails for a dewar that reports level container and runs level process."""
    must(os.geteuid() == 0, "only root can make such a host")
    liar = tmp_path / "dewar"
    liar.write_text(LIAR % (str(bundle.folder / "bundle" / "bin" / "dewar"), damage),
                    encoding="utf-8")
    liar.chmod(0o755)
    out = tmp_path / "row.json"
    subprocess.run(local.private('exec "$@"', "/usr/bin/python3", ROOT / "tests/hosts/core.py",
                                 "--dewar", liar, "--host", "liar", "--out", out, "--verify", "no"),
                   stdout=subprocess.DEVNULL, timeout=local.TIMEOUT_S, check=False)
    checks = {c["name"]: c["ok"] for c in json.loads(out.read_text(encoding="utf-8"))["checks"]}
    assert checks[wall] is False


LIAR = """#!/usr/bin/python3
import json, subprocess, sys
words = sys.argv[1:]
lies = "container" in words
done = subprocess.run([%r, *["process" if w == "container" else w for w in words]],
                      stdout=subprocess.PIPE)
out = done.stdout
if lies and out:
    r = json.loads(out)
    r["proof"]["achieved"] = r["proof"]["requested"] = "container"
    if r["proof"]["walls"]:
        r["proof"]["walls"]["namespaces"].update(%r)
    out = json.dumps(r).encode()
sys.stdout.buffer.write(out)
sys.exit(done.returncode)
"""
