# SPDX-License-Identifier: Apache-2.0
"""`dewar bench`: tests of its output, not of its speed."""

import json
import os
import re
import signal
import subprocess
import xml.etree.ElementTree

import pytest

from e2e.helpers import assert_nothing_left, wait_until

pytestmark = pytest.mark.cold

KEYS = {"name", "n", "p50_ms", "p95_ms", "p99_ms", "ratio_to_bare"}
ROUNDS = "3"


@pytest.fixture(scope="module")
def bench(run):
    """bench(*args): the rows of `dewar bench --json *args`, by name."""

    def run_bench(*args, **kwargs):
        done = run("bench", "--json", *args, timeout=300, **kwargs)
        assert done.returncode == 0 and done.stderr == b"", done
        assert done.stdout.count(b"\n") == 1
        answer = json.loads(done.stdout)
        assert {"rows", "date", "kernel", "user", "cpus", "load", "rounds"} == set(answer)
        return {row["name"]: row for row in answer["rows"]}

    return run_bench


@pytest.fixture(scope="module")
def few(bench):
    """The rows of print(1), with few rounds."""
    return bench("--rounds", ROUNDS, "--only", "standby,fork,cold,cold-command")


def assert_measured(row, n):
    assert KEYS <= set(row)
    assert row["not_measured"] is None and row["failed"] == 0, row
    assert row["n"] == n
    assert 0 < row["p50_ms"] <= row["p95_ms"] <= row["p99_ms"]
    assert row["ratio_to_bare"] > 0


def test_every_row_contains_its_numbers(few):
    assert set(few) == {"bare-python", "cold-command", "cold", "fork", "standby"}
    for row in few.values():
        assert_measured(row, int(ROUNDS))


def test_a_ratio_compares_the_medians(few):
    assert few["bare-python"]["ratio_to_bare"] == 1
    for name in ("cold", "fork", "standby"):
        row = few[name]
        assert row["bare"] == "bare-python"
        assert row["ratio_to_bare"] == pytest.approx(row["p50_ms"] / few["bare-python"]["p50_ms"])


def test_runs_start_as_the_row_says(few):
    n = int(ROUNDS)
    assert few["standby"]["runs"] == {"standby": n, "forked": 0, "cold": 0}
    assert few["fork"]["runs"] == {"standby": 0, "forked": n, "cold": 0}
    assert few["cold"]["runs"] == {"standby": 0, "forked": 0, "cold": 0}


def test_the_checks_of_a_row_compare_with_its_bar(few):
    for name in ("fork", "standby"):
        checks = few[name]["checks"]
        assert [check["what"] for check in checks] == ["p50 / bare p50", "p99 / bare p50"]
        for check in checks:
            assert check["bar_met"] == (check["value"] <= check["bar"])
        assert few[name]["met"] == all(check["bar_met"] for check in checks)
    assert few["cold"]["met"] is None and few["cold"]["checks"] == []


@pytest.mark.slow
def test_a_row_that_cannot_be_measured_states_the_reason(bench):
    rows = bench("--rounds", "1", "--only", "data,javascript,docker",
                 env={"DOCKER_HOST": "unix:///no/such.sock"})
    assert set(rows) == {"bare-data", "data", "bare-node", "javascript", "bare-docker", "docker"}
    assert "/no/such.sock" in rows["docker"]["not_measured"]
    for row in rows.values():
        assert KEYS <= set(row)
        if row["not_measured"] is None:
            assert row["n"] == 1
            continue
        assert row["n"] == 0 and row["met"] is None
        assert all(row[key] is None for key in KEYS - {"name", "n"})


@pytest.mark.slow
def test_throughput_burst_and_memory(bench):
    rows = bench("--quick", "--only", "throughput,burst,memory")
    assert rows["memory"]["checks"][0]["value"] > 0
    assert rows["burst"]["n"] == 100 and rows["burst"]["failed"] == 0
    assert rows["burst"]["runs"]["standby"] == 100
    assert rows["burst-fork"]["n"] == 100 and rows["burst-bare"]["n"] == 100
    if rows["throughput"]["not_measured"] is None:  # it needs more than one core
        assert_measured(rows["throughput"], sum(rows["throughput"]["runs"].values()))


@pytest.mark.slow
@pytest.mark.heavy
def test_500_cells_can_be_held(bench):
    row = bench("--rounds", "4", "--only", "held")["held"]
    assert_measured(row, 4)


def test_runs_leave_nothing_behind(bench):
    row = bench("--rounds", "10", "--only", "leftovers")["leftovers"]
    assert row["n"] == 330 and row["failed"] == 0 and row["ratio_to_bare"] is None
    left, growth = row["checks"]
    assert left["value"] == 0, row["note"]
    # Otherwise there would be nothing to leave behind.
    assert re.search(r"while the pool stands: [1-9]\d* processes", row["note"]), row["note"]
    assert growth["unit"] == "MB"


@pytest.mark.slow
def test_quick_skips_the_row_that_takes_a_minute(run):
    done = run("bench", "--quick", "--json", timeout=300)
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    assert "--quick" in rows["leftovers"]["not_measured"]
    assert rows["standby"]["n"] == 20


def test_the_table_has_no_colours_without_a_terminal(run):
    done = run("bench", "--rounds", "2", "--only", "standby")
    text = done.stdout.decode()
    assert done.returncode == 0 and done.stderr == b""
    assert "\033" not in text
    assert "print(1): bare python3" in text and "p50 / bare p50" in text
    assert "bare node" not in text


def test_the_drawing_is_a_single_file(run, tmp_path):
    drawing = tmp_path / "bench.svg"
    drawing.write_text("x" * 100000)  # the existing content is replaced
    done = run("bench", "--rounds", "2", "--only", "standby,fork", "--svg", drawing)
    assert done.returncode == 0, done
    root = xml.etree.ElementTree.parse(drawing).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = drawing.read_text()
    assert "on standby" in text and "prefers-color-scheme" in text
    assert "href" not in text and "nan" not in text and "inf" not in text


@pytest.mark.parametrize("args, word", [
    (["--only", "standby,nonsense"], "nonsense"),
    (["--only", ""], "--only"),
    (["--rounds", "0"], "--rounds"),
    (["--rounds", "many"], "--rounds"),
    (["--rounds", "10001"], "--rounds"),
    (["--fast"], "--fast"),
    (["standby"], "standby"),
    (["--svg", "/nowhere/bench.svg"], "/nowhere/bench.svg"),
])
def test_wrong_options_are_refused_at_once(run, args, word):
    done = run("bench", *args, timeout=20)
    assert done.returncode == 125 and done.stdout == b""
    assert word in done.stderr.decode() and done.stderr.count(b"\n") == 1


def test_the_bench_program_refuses_direct_use(dewar):
    program = os.path.join(os.path.dirname(dewar), "dewar-bench")
    done = subprocess.run([program], capture_output=True, timeout=20, check=False)
    assert done.returncode == 125 and done.stdout == b""
    assert b"`dewar bench`" in done.stderr and done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("only", ["standby", "throughput", "burst", "held", "leftovers"])
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_benchmark_and_leaves_nothing(dewar, host_snapshot, only, sig):
    before = host_snapshot()
    with subprocess.Popen([dewar, "bench", "--only", only], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        wait_until(lambda: has_children(child.pid), "a cell")
        child.send_signal(sig)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (128 + sig, b"", b"")
    assert_nothing_left(host_snapshot, before)


def has_children(pid):
    folder = f"/proc/{pid}/task"
    try:
        return any(open(f"{folder}/{task}/children", encoding="ascii").read()
                   for task in os.listdir(folder))
    except OSError:
        return False  # a thread has ended
