# SPDX-License-Identifier: Apache-2.0
"""The attacks of `dewar verify` at level docker: none escapes, on any engine.

By default these are the attacks that detect a missing wall: those that turn red at level container
when a wall is removed (tests/escape), and those that concern engines. DEWAR_WHOLE=1 runs all
attacks: some minutes with Docker and Podman, ten with gVisor.
"""

import collections
import json
import os
import pathlib
import subprocess

import pytest

from e2e.conftest import merged_env
from escape.mutants import DOCKER_MUTANTS, MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHOLE = bool(os.environ.get("DEWAR_WHOLE"))
SECONDS = 2400 if WHOLE else 900

# Verdicts that differ from those of level container, with the reason.
DIFFERENT = {
    # The /proc of an engine contains more than processes, and some of that is needed.
    "list-what-proc-tells": ("contained", "not_promised"),
    # Each container has its own layer above the programs of its image.
    "whisper-by-flock": ("not_promised", "contained"),
    "tell-the-host-by-file-system": ("not_promised", "contained"),
}
# More differences with Podman.
PODMAN = {
    "make-empty-files": ("contained", "not_promised"),
    "make-folders": ("contained", "not_promised"),
    "make-hard-links": ("contained", "not_promised"),
    "make-pipes": ("contained", "not_promised"),
    "make-symbolic-links": ("contained", "not_promised"),
    "read-own-cgroup": ("contained", "not_promised"),
}


def first_of(mutants, level):
    """One attack for each wall."""
    found = set()
    for mutant in mutants:
        names = mutant["red"].get(level, [])
        if names and not found & set(names):
            found.add(names[0])
    return found


def all_of(mutants, level):
    return {name for mutant in mutants for name in mutant["red"].get(level, [])}


def choice(engine):
    """Options for the command."""
    if WHOLE:
        return []
    if engine.runtime:  # it is slow
        names = first_of(MUTANTS, "container") | first_of(DOCKER_MUTANTS, "docker")
    else:
        names = all_of(MUTANTS, "container") | all_of(DOCKER_MUTANTS, "docker") | set(DIFFERENT)
    return ["--only", ",".join(sorted(names))]


def verify(engine, *options):
    done = subprocess.run([engine.dewar, "verify", "--json", *options, *choice(engine)],
                          env=merged_env({"DOCKER_HOST": engine.host}), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=SECONDS, check=False)
    assert done.returncode in (0, 1), done.stderr
    return {row["attack"]: row for row in json.loads(done.stdout)["rows"]}


@pytest.fixture(scope="session")
def suites():
    return {}


@pytest.fixture
def suite(engine, suites):
    """The rows by attack, computed once for each engine."""
    if engine.name not in suites:
        runtime = ["--runtime", engine.runtime] if engine.runtime else []
        suites[engine.name] = verify(engine, "--level", "docker", *runtime)
    return suites[engine.name]


@pytest.fixture
def unknown(suite):
    return {name: row["detail"] for name, row in suite.items() if row["verdict"] == "cannot_tell"}


@pytest.mark.slow
def test_nothing_escapes(suite):
    escaped = {name: row["detail"] for name, row in suite.items() if row["verdict"] == "escaped"}
    assert escaped == {}
    assert len(suite) >= (120 if WHOLE else 25)


@pytest.mark.slow
def test_every_verdict_is_justified(suite):
    """A contained attack succeeds in the control; a verdict `not_promised` has a reason."""
    model = " ".join((ROOT / "docs" / "THREAT_MODEL.md").read_text(encoding="utf-8").split())
    for name, row in suite.items():
        if row["verdict"] == "contained":
            assert row["control"] == "escaped", (name, row)
        elif row["verdict"] == "not_promised":
            assert row["detail"] in model, (name, row["detail"])


@pytest.mark.slow
@pytest.mark.engines("docker", "podman")
def test_every_attack_has_a_verdict(unknown, must):
    must(not unknown, "%d attacks cannot tell: %s" % (len(unknown), unknown))


@pytest.mark.slow
def test_only_a_few_attacks_are_not_promised(suite, engine):
    """gVisor's processes cannot be inspected, and its own threads are not the program's."""
    counts = collections.Counter(row["verdict"] for row in suite.values())
    assert counts["contained"] >= (0.5 if engine.runtime else 0.8) * len(suite), counts


@pytest.mark.slow
@pytest.mark.engines("docker", "podman")
def test_level_docker_contains_what_level_container_contains(suite, engine):
    rows = verify(engine, "--level", "container", "--way", "cold")
    changed = {name: (rows[name]["verdict"], row["verdict"]) for name, row in suite.items()
               if row["verdict"] != rows[name]["verdict"]}
    expected = {**DIFFERENT, **(PODMAN if engine.kind == "podman" else {})}
    assert changed == {name: expected[name] for name in changed if name in expected}
