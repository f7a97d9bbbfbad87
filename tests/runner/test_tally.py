# SPDX-License-Identifier: Apache-2.0
"""The sum of the tests: nothing that did not run counts, and each failure says how to run it."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
XML = """<testsuites><testsuite name="pytest">
<testcase classname="e2e.test_run" name="test_quick" time="0.1"/>
<testcase classname="e2e.test_run" name="test_slow[a b]@group" time="7.5">%s</testcase>
</testsuite></testsuites>"""


@pytest.fixture
def tally(tmp_path):
    """tally(*words): tests/tally.py, as (exit status, output); tally.results is its file."""

    def run(*words, must_work=""):
        env = {**os.environ, "DEWAR_MUST_WORK": must_work}
        done = subprocess.run([sys.executable, ROOT / "tests" / "tally.py", *words], check=False,
                              stdout=subprocess.PIPE, encoding="utf-8", env=env)
        return done.returncode, done.stdout

    def add(inner, status="0"):
        xml = tmp_path / "x.xml"
        xml.write_text(XML % inner)
        return run("add", run.results, "e2e", "e2e", xml, status, "the.log")

    run.results = tmp_path / "results.tsv"
    run.results.touch()
    run.add = add
    return run


def test_what_passes_is_counted_and_the_slowest_are_named(tally):
    assert tally.add("")[1].split() == ["7.5", "s", "test_run::test_slow[a", "b]"]
    status, text = tally("sum", tally.results)
    assert status == 0 and text.endswith("\n2 passed, 0 failed\n")


def test_a_failure_says_how_to_run_it_alone(tally):
    tally.add('<failure message="no"/>', "1")
    status, text = tally("sum", tally.results)
    assert status == 1 and text.endswith("\n1 passed, 1 failed\n")
    assert "alone: tests/run.sh e2e 'tests/e2e/test_run.py::test_slow[a b]'\n" in text


def test_a_step_that_was_not_run_is_named_and_counts_as_nothing(tally):
    tally.add("")
    status, text = tally("sum", tally.results, "hosts")
    assert status == 0 and text.endswith("\nnot run: hosts\n2 passed, 0 failed\n")


@pytest.mark.parametrize("must_work, verdict", [("", "1 passed, 0 failed"),
                                                ("1", "1 passed, 1 failed")])
def test_a_skip_is_a_failure_where_everything_must_work(tally, must_work, verdict):
    tally.add('<skipped message="not here"/>')
    status, text = tally("sum", tally.results, must_work=must_work)
    assert (status, text.splitlines()[-1]) == (int(bool(must_work)), verdict)


def test_a_crash_without_a_failed_test_is_a_failure(tally):
    tally.add("", "139")
    assert tally("sum", tally.results)[0] == 1


def test_no_test_at_all_is_a_failure(tally):
    assert tally("sum", tally.results)[0] == 1


def test_an_unknown_step_is_an_error():
    done = subprocess.run([ROOT / "tests" / "run.sh", "e3e"], check=False, capture_output=True,
                          encoding="utf-8")
    assert done.returncode == 2 and 'unknown step or option "e3e"' in done.stderr
