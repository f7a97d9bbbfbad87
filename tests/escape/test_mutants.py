# SPDX-License-Identifier: Apache-2.0
"""Remove each wall: `dewar verify` must notice, unless the mutant gives a reason."""

import os

import pytest

import skips
from escape import mutate
from escape.mutants import MUTANTS, ONE_OF_EACH

BUILD = os.environ.get("DEWAR_BUILD") or os.path.join(mutate.ROOT, "build")
ANY = "read-flag-by-path"  # the attack on a cell that must not be warm
WALLS = {"namespace", "mount", "seccomp", "landlock", "capability", "cgroup", "rlimit", "absent",
         "supervisor"}


def those_with(key):
    """The mutants with this key; all but one for each wall are marked slow."""
    return [pytest.param(m, id=m["name"],
                         marks=[] if m["name"] in ONE_OF_EACH else [pytest.mark.slow])
            for m in MUTANTS if m[key]]


def need(mutant):
    if mutate.can_run(mutant):
        return
    reason = "only root would notice"
    if skips.must_work():
        pytest.fail("this must work here: " + reason, pytrace=False)
    pytest.skip(reason)


@pytest.mark.parametrize("mutant", those_with("red"))
def test_a_missing_wall_turns_rows_red(mutant):
    need(mutant)
    rows = mutate.red_rows(mutant, BUILD, mutate.choice(mutant["red"]))
    for level, attacks in mutant["red"].items():
        for attack in attacks:
            row = rows[attack, level]
            assert row["verdict"] == "escaped", (attack, level, row)


@pytest.mark.parametrize("mutant", those_with("redundant"))
def test_each_of_two_redundant_walls_is_sufficient(mutant):
    """Removing one wall changes no verdict of the attacks that succeed without both."""
    need(mutant)
    both = next(m for m in MUTANTS if m["name"] == mutant["both"])
    rows = mutate.red_rows(mutant, BUILD, mutate.choice(both["red"]))
    for level, attacks in both["red"].items():
        for attack in attacks:
            assert rows[attack, level]["verdict"] == "contained", (attack, level)


@pytest.mark.parametrize("mutant", those_with("refused"))
def test_no_warm_cell_is_created_without_the_wall(mutant):
    need(mutant)
    # A pool with standby cells would try again and again.
    rows = mutate.red_rows(mutant, BUILD, ("--level", "container", "--way", "fork", "--only", ANY))
    assert rows[ANY, "forked"]["detail"] == "it ran cold"


def test_no_wall_is_untested():
    """Every mutant has attacks that succeed, or gives a reason in `redundant` or `refused`."""
    for mutant in MUTANTS:
        said = [key for key in ("red", "redundant", "refused") if mutant[key]]
        assert len(said) == 1, mutant["name"]
    assert {m["wall"] for m in MUTANTS} == WALLS


def test_one_of_each_wall_is_quick():
    """The default tier removes one wall of each class, and two of a warm cell."""
    chosen = [m for m in MUTANTS if m["name"] in ONE_OF_EACH]
    assert sorted(m["name"] for m in chosen) == sorted(ONE_OF_EACH)
    assert sorted(m["wall"] for m in chosen) == sorted(WALLS)
    assert len([m for m in chosen if "warm" in m["red"]]) >= 2
