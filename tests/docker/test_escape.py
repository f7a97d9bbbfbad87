# SPDX-License-Identifier: Apache-2.0
"""The escape suite at level docker: nothing gets out, on any engine."""

import collections
import json
import pathlib
import subprocess

import pytest

from e2e.conftest import merged_env

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 300


@pytest.fixture(scope="session")
def suites():
    return {}


@pytest.fixture
def suite(engine, suites):
    """Its rows by attack, once an engine."""
    if engine.name not in suites:
        argv = [engine.dewar, "verify", "--level", "docker", "--json"]
        if engine.runtime:
            argv += ["--runtime", engine.runtime]
        done = subprocess.run(argv, env=merged_env({"DOCKER_HOST": engine.host}), stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=SECONDS, check=False)
        assert done.returncode in (0, 1), done.stderr
        suites[engine.name] = json.loads(done.stdout)["rows"]
    return {row["attack"]: row for row in suites[engine.name] if row["level"] == "docker"}


@pytest.mark.slow
def test_nothing_escapes(suite):
    escaped = {name: row["detail"] for name, row in suite.items() if row["verdict"] == "escaped"}
    assert escaped == {}
    assert len(suite) >= 120


@pytest.mark.slow
def test_every_verdict_means_something(suite, must):
    """What is contained gets through in the control; what is not promised is explained."""
    model = " ".join((ROOT / "docs" / "THREAT_MODEL.md").read_text(encoding="utf-8").split())
    for name, row in suite.items():
        if row["verdict"] == "contained":
            assert row["control"] == "escaped", (name, row)
        elif row["verdict"] == "not_promised":
            assert row["detail"] in model, (name, row["detail"])
    unknown = {name: row["detail"] for name, row in suite.items()
               if row["verdict"] == "cannot_tell"}
    must(not unknown, "%d attacks cannot tell: %s" % (len(unknown), unknown))


@pytest.mark.slow
def test_little_is_not_promised(suite):
    counts = collections.Counter(row["verdict"] for row in suite.values())
    assert counts["contained"] >= 0.8 * len(suite), counts
