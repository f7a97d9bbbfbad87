# SPDX-License-Identifier: Apache-2.0
"""`dewar check`: its output for people and for programs."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.once, pytest.mark.cold]

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEWAR = os.environ.get("DEWAR", str(ROOT / "build" / "dewar"))


def check(*args, stdin=""):
    return subprocess.run([DEWAR, "check", *args], input=stdin, capture_output=True, text=True,
                          timeout=60)


@pytest.fixture(autouse=True)
def grammars(must):
    done = check("python", "-c", "x = 1")
    must("without grammars" not in done.stderr, "this dewar was built without grammars")


def test_findings_are_printed_like_compiler_errors(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("import os\nos.system('ls')\n")
    done = check("python", str(file))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == f"{file}:1:8: warning: module os is on the list of risky modules [import:os]"
    assert lines[1].startswith(f"{file}:2:1: error: ") and lines[1].endswith("[shell:os.system]")
    assert "2 findings" in done.stderr and "only the walls isolate it" in done.stderr


def test_without_findings_nothing_is_printed():
    done = check("python", "-", stdin="import osmnx\nsystem = 'import os'\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_json_output_is_an_array_of_findings():
    done = check("--json", "py", "-c", "eval('1')")
    assert done.returncode == 1 and done.stderr == ""
    assert json.loads(done.stdout) == [
        {"rule": "builtin:eval", "line": 1, "column": 1, "severity": "error",
         "message": "eval runs text as code"}]
    assert json.loads(check("--json", "py", "-c", "1").stdout) == []


def test_sarif_output_names_rules_and_places(tmp_path):
    file = tmp_path / "a.sh"
    file.write_text("ls | xargs rm\nrm x\n")
    done = check("bash", "--sarif", str(file))
    log = json.loads(done.stdout)
    run = log["runs"][0]
    assert log["version"] == "2.1.0" and run["tool"]["driver"]["name"] == "dewar"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["delete:rm"]
    assert len(run["results"]) == 2
    place = run["results"][1]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == str(file)
    assert place["region"] == {"startLine": 2, "startColumn": 1}


def test_allow_modules_reports_other_modules():
    done = check("python", "--allow-modules", "math,json", "-c", "import math, json, numpy")
    assert done.returncode == 1
    assert done.stdout.endswith("[import:numpy]\n") and done.stdout.count("\n") == 1


def test_allow_commands_reports_other_commands():
    done = check("sh", "--allow-commands", "default", "--json", "-c", "ls | xargs id; $x")
    assert {f["rule"] for f in json.loads(done.stdout)} >= {"command:id", "undecided:command"}
    done = check("sh", "--allow-commands", "ls,id", "-c", "ls | xargs id")
    assert (done.returncode, done.stdout) == (0, "")
    done = check("sh", "--allow-commands", "default", "-c", "echo x > /tmp/y")
    assert "[redirect:/tmp/y]" in done.stdout
    done = check("sh", "--allow-commands", "default", "--write-below", "/tmp", "-c",
                 "echo x > /tmp/y")
    assert done.returncode == 0


def test_hostile_names_cannot_write_to_the_terminal():
    done = check("python", "--allow-modules", "x", "-c", "__import__('a\\x1b[2Jb\\n\\rc')")
    assert done.returncode == 1
    assert "\x1b" not in done.stdout and "\r" not in done.stdout


@pytest.mark.parametrize("args, why", [
    ((), "no language given"),
    (("python",), "no file given"),
    (("cobol", "-c", "x"), "cobol"),
    (("python", "a", "b"), 'unexpected argument "b"'),
    (("python", "/nonexistent"), "/nonexistent"),
    (("python", "--allow-commands", "ls", "-c", "x"), "shell scripts"),
    (("bash", "--write-below", "/tmp", "-c", "x"), "--allow-commands"),
    (("bash", "--json", "--sarif", "-c", "x"), "cannot be combined"),
])
def test_wrong_input_exits_with_125(args, why):
    done = check(*args)
    assert done.returncode == 125
    assert why in done.stderr


def test_code_that_is_too_large_is_a_finding(tmp_path):
    file = tmp_path / "big.py"
    file.write_text("x = 1\n" * 2_000_000)
    done = check("python", str(file))
    assert done.returncode == 1 and "[analysis:too-large]" in done.stdout


def test_bash_runs_no_command_that_the_analysis_misses(must):
    """The script generates the same commands each time, because its seed is fixed."""
    must(shutil.which("bash"), "bash is not installed")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "policy" / "differential.py"), "--scripts", "150"],
        capture_output=True, text=True, timeout=600, env={**os.environ, "DEWAR": DEWAR})
    assert done.returncode == 0, done.stdout
