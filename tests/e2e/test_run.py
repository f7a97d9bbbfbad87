# SPDX-License-Identifier: Apache-2.0
"""`dewar run` and `dewar exec`, in all their forms."""

import hashlib
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import time

import pytest

from e2e.conftest import merged_env
from e2e.helpers import MARGIN_S, descendants, is_live, is_warm, name_of, wait_until

SHOW_ARGS = "import sys; print(sys.argv[1:])"


# ---- where the code comes from ----

@pytest.mark.core
def test_code_on_the_command_line(run):
    done = run("run", "python", "-c", "print(2**64)")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"18446744073709551616\n", b"")


@pytest.mark.parametrize("name", ["python", "Python", "PYTHON", "py", "python3"])
def test_a_language_has_aliases_in_any_case(run, name):
    assert run("run", name, "-c", "print(1)").stdout == b"1\n"


def test_code_from_standard_input(run):
    done = run("run", "python", "-", input=b"print('from a pipe')")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"from a pipe\n", b"")


def test_code_from_a_file_of_a_named_language(run, tmp_path):
    (tmp_path / "code.txt").write_text("print('named')")
    done = run("run", "python", tmp_path / "code.txt")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"named\n", b"")


@pytest.mark.parametrize("name, code", [
    ("a.py", "print('told')"),
    ("a.sh", "echo told"),
    ("a.pl", "print \"told\\n\";"),
    ("weird name; $(x) 'q'.py", "print('told')"),
    ("many.dots.in.it.py", "print('told')"),
])
def test_the_extension_selects_the_language(run, tmp_path, name, code):
    (tmp_path / name).write_text(code)
    done = run("run", tmp_path / name)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"told\n", b"")


@pytest.mark.parametrize("line", [
    "#!/usr/bin/python3", "#!/usr/bin/env python3", "#! /usr/bin/env -S python3 -u",
    "#!/usr/local/bin/python",
])
def test_the_first_line_selects_the_language(run, tmp_path, line):
    (tmp_path / "script").write_text(line + "\nprint('told')\n")
    done = run("run", tmp_path / "script")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"told\n", b"")


def test_an_elf_program_runs_directly(run, tmp_path, must):
    must(shutil.which("cc"), "needs a C compiler: apt-get install gcc")
    (tmp_path / "a.c").write_text(
        "#include <stdio.h>\nint main(int n, char **v) { printf(\"%s\\n\", v[n - 1]); return 7; }")
    subprocess.run(["cc", "-o", "prog", "a.c"], cwd=tmp_path, check=True)
    done = run("run", tmp_path / "prog", "word")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"word\n", b"")


def test_a_word_is_a_language_before_it_is_a_file(run, tmp_path):
    (tmp_path / "python").write_text("#!/bin/sh\necho the file")
    assert run("run", "python", cwd=tmp_path).stdout == b"the file\n"
    assert run("run", "python", "-c", "print('code')", cwd=tmp_path).stdout == b"code\n"
    (tmp_path / "x.py").write_text("print('x')")
    assert run("run", "python", "x.py", cwd=tmp_path).stdout == b"x\n"
    assert run("run", "./python", cwd=tmp_path).stdout == b"the file\n"


@pytest.mark.parametrize("way", ["file", "stdin"])
def test_a_whole_request(run, tmp_path, way):
    text = json.dumps({"language": "python", "code": "import os, sys\n"
                       "print(sys.argv[1:], os.environ['COLOUR'], sys.stdin.read(),"
                       " open('in.txt').read())\nraise SystemExit(9)",
                       "args": ["a", "--b"], "env": {"COLOUR": "red"}, "stdin": "input",
                       "files": {"in.txt": "Y29udGVudA=="}})
    if way == "file":
        (tmp_path / "r.json").write_text(text)
        done = run("run", "--request", tmp_path / "r.json", input=b"not for the program")
    else:
        done = run("run", "--request", "-", input=text.encode())
    assert (done.returncode, done.stdout) == (9, b"['a', '--b'] red input content\n"), done


def test_a_request_with_a_command(run):
    text = json.dumps({"command": "echo one | tr a-z A-Z; exit 4"})
    done = run("run", "--request", "-", input=text.encode())
    assert (done.returncode, done.stdout) == (4, b"ONE\n"), done


def test_a_request_answers_in_json_and_text(run):
    text = json.dumps({"language": "python", "code": "print(1)"}).encode()
    assert json.loads(run("run", "--json", "--request", "-", input=text).stdout)["stdout"] == "1\n"
    assert b"exit_code: 0\n" in run("run", "--text", "--request", "-", input=text).stdout


# ---- exec ----

def test_exec_takes_a_line_for_the_shell(run):
    done = run("exec", "echo $((6 * 7)) | tr 4 x; echo err >&2; exit 5")
    assert (done.returncode, done.stdout, done.stderr) == (5, b"x2\n", b"err\n")


def test_exec_takes_a_line_as_shells_do(run):
    assert run("exec", "-c", "echo a b | wc -w").stdout.strip() == b"2"
    assert run("exec", "--command", "-x; echo $?").stdout == b"127\n"


def test_exec_passes_words_as_they_are(run):
    words = ["a b", "$HOME", "'", '"', "", "*", "`x`", "\\", "é→", "-n"]
    done = run("exec", "--", "/usr/bin/printf", "[%s]", *words)
    assert done.stdout == "".join("[%s]" % w for w in words).encode(), done


def test_exec_of_a_missing_command_exits_with_127(run):
    done = run("exec", "--", "no-such-command", "x")
    assert done.returncode == 127
    assert b"no-such-command" in done.stderr


def test_exec_reads_the_callers_standard_input(run):
    assert run("exec", "wc -c", input=b"12345").stdout.strip() == b"5"


def test_exec_in_json(run_json):
    done = run_json("echo hi; exit 3", command="exec")
    assert (done["status"], done["exit_code"], done["stdout"]) == ("error", 3, "hi\n")


# ---- arguments ----

@pytest.mark.parametrize("form", ["code", "file", "lang file", "stdin"])
def test_arguments_pass_through(run, tmp_path, form):
    (tmp_path / "a.py").write_text(SHOW_ARGS)
    args = ["--verbose", "-c", "", "a b", "--", "é\n", "*"]
    start = {"code": ["python", "-c", SHOW_ARGS], "file": [tmp_path / "a.py"],
             "lang file": ["python", tmp_path / "a.py"], "stdin": ["python", "-"]}[form]
    done = run("run", *start, "--", *args, input=SHOW_ARGS.encode())
    assert done.stdout.decode() == "%r\n" % args, done


def test_arguments_without_dashes_need_no_separator(run, tmp_path):
    (tmp_path / "a.py").write_text(SHOW_ARGS)
    done = run("run", tmp_path / "a.py", "one", "--timeout", "20s", "two", "--", "--three")
    assert done.stdout == b"['one', 'two', '--three']\n", done


def test_many_and_long_arguments(run):
    args = ["x" * 1000] * 100
    done = run("run", "python", "-c", "import sys; print(len(''.join(sys.argv[1:])))", "--", *args)
    assert done.stdout == b"100000\n", done


# ---- exit status ----

@pytest.mark.parametrize("status", [0, 1, 2, 3, 42, 124, 125, 126, 127, 128, 130, 137, 255])
def test_exit_status_passes_through(run, status):
    done = run("run", "sh", "-c", "exit %d" % status)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")


@pytest.mark.parametrize("name", ["KILL", "TERM", "SEGV", "ABRT", "INT", "HUP", "USR1", "PIPE"])
def test_a_signal_becomes_128_and_its_number(run, run_json, name):
    number = getattr(signal, "SIG" + name)
    done = run("run", "sh", "-c", "kill -%s $$" % name)
    assert done.returncode == 128 + number
    answer = run_json("sh", "-c", "kill -%s $$" % name)
    assert (answer["status"], answer["reason"]) == ("error", "signal"), answer
    assert (answer["signal"], answer["exit_code"]) in ((number, 128 + number),
                                                       ("SIG" + name, 128 + number))
    assert answer["hint"]


def test_json_and_text_exit_like_the_program(run):
    assert run("run", "--json", "sh", "-c", "exit 6").returncode == 6
    assert run("run", "--text", "sh", "-c", "exit 6").returncode == 6


# ---- standard input ----

READ = "import sys; d = sys.stdin.buffer.read(); print(len(d), d[:20])"


@pytest.mark.core
def test_the_program_reads_the_callers_standard_input(run):
    assert run("run", "python", "-c", READ, input=b"a\0\xffb").stdout == b"4 b'a\\x00\\xffb'\n"


def test_no_standard_input(run):
    assert run("run", "python", "-c", READ).stdout == b"0 b''\n"
    assert run("run", "python", "-c", READ, input=b"").stdout == b"0 b''\n"


def test_closed_standard_input(dewar):
    done = subprocess.run(["sh", "-c", 'exec "$0" run python -c "$1" <&-', dewar, READ],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
                          env=merged_env(None))
    assert (done.returncode, done.stdout) == (0, b"0 b''\n"), done


def test_standard_input_from_an_option(run):
    done = run("run", "--stdin", "text\n", "python", "-c", READ, input=b"not this")
    assert done.stdout == b"5 b'text\\n'\n"
    assert run("run", "--stdin", "", "python", "-c", READ, input=b"not this").stdout == b"0 b''\n"


def test_code_on_standard_input_is_not_the_programs_input(run):
    code = b"import sys; print(repr(sys.stdin.read()))"
    assert run("run", "python", "-", input=code).stdout == b"''\n"
    assert run("run", "--stdin", "x", "python", "-", input=code).stdout == b"'x'\n"


def test_standard_input_beside_a_file_with_code(run, tmp_path):
    (tmp_path / "a.py").write_text(READ)
    assert run("run", tmp_path / "a.py", input=b"abc").stdout == b"3 b'abc'\n"


def test_five_megabytes_of_input(run):
    code = ("import hashlib, sys\nd = sys.stdin.buffer.read()\n"
            "print(len(d), hashlib.sha256(d).hexdigest())")
    data = os.urandom(5 * 1024 * 1024)
    done = run("run", "python", "-c", code, input=data)
    assert done.stdout.decode() == "%d %s\n" % (len(data), hashlib.sha256(data).hexdigest())


def test_input_without_end_for_a_program_that_stops_reading(dewar):
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as yes:
        try:
            done = subprocess.run([dewar, "run", "sh", "-c", "head -2"], stdin=yes.stdout,
                                  capture_output=True, timeout=60, env=merged_env(None),
                                  check=False)
        finally:
            yes.stdout.close()
            yes.kill()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"y\ny\n", b"")


@pytest.mark.parametrize("size", [10, 5 * 1024 * 1024])
def test_input_for_a_program_that_does_not_read_it(run, size):
    done = run("run", "python", "-c", "print('done')", input=b"x" * size)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"done\n", b"")


def test_a_program_ends_although_its_input_stays_open(dewar):
    """The pipe stays open, and nothing is written to it."""
    read_end, write_end = os.pipe()
    try:
        done = subprocess.run([dewar, "run", "python", "-c", "print(1)"], stdin=read_end,
                              capture_output=True, timeout=60, env=merged_env(None), check=False)
    finally:
        os.close(read_end)
        os.close(write_end)
    assert (done.returncode, done.stdout) == (0, b"1\n")


def test_input_and_output_in_turn(dewar):
    with subprocess.Popen([dewar, "run", "python", "-c",
                           "for line in open(0): print(line.strip().upper(), flush=True)"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=merged_env(None)) as cell:
        for word in b"one", b"two", b"three":
            cell.stdin.write(word + b"\n")
            cell.stdin.flush()
            assert cell.stdout.readline() == word.upper() + b"\n"
        cell.stdin.close()
        assert cell.wait(MARGIN_S) == 0


# ---- output ----

def test_output_arrives_before_the_program_ends(dewar):
    code = ("import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr, flush=True)\n"
            "sys.stdin.read()\nprint('end')")
    with subprocess.Popen([dewar, "run", "python", "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=merged_env(None)) as cell:
        # The program waits for the end of its input, which we still hold open.
        assert cell.stdout.readline() == b"out\n"
        assert cell.stderr.readline() == b"err\n"
        assert cell.poll() is None
        cell.stdin.close()
        assert cell.stdout.read() == b"end\n"
        assert cell.wait(MARGIN_S) == 0


def test_output_without_a_newline_arrives_too(dewar):
    with subprocess.Popen([dewar, "run", "python", "-c", "import sys\nsys.stdout.write('p> ')\n"
                           "sys.stdout.flush()\nsys.stdin.read()"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=merged_env(None)) as cell:
        assert os.read(cell.stdout.fileno(), 100) == b"p> "
        cell.stdin.close()
        assert cell.wait(MARGIN_S) == 0


def test_standard_error_is_separate(run, run_json):
    code = "import sys; print('out'); print('err', file=sys.stderr)"
    done = run("run", "python", "-c", code)
    assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
    answer = run_json("python", "-c", code)
    assert (answer["stdout"], answer["stderr"]) == ("out\n", "err\n")


def test_bytes_pass_as_they_are(run):
    done = run("run", "python", "-c",
               "import sys; sys.stdout.buffer.write(bytes(range(256)) * 100)")
    assert done.stdout == bytes(range(256)) * 100


def test_a_reader_that_goes_away_ends_the_run_quietly(dewar):
    cell = subprocess.Popen([dewar, "run", "python", "-c", "while True: print('y' * 100)"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=merged_env(None))
    assert cell.stdout.readline() == b"y" * 100 + b"\n"
    cell.stdout.close()
    assert cell.stderr.read() == b""
    cell.stderr.close()
    assert cell.wait(15) == 141


def test_piped_into_head(dewar):
    done = subprocess.run(["sh", "-c", '"$0" run python -c "$1" | head -1', dewar,
                           "while True: print('y')"], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, env=merged_env(None), check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"y\n", b"")


@pytest.mark.parametrize("option", ["--json", "--text", None])
def test_output_to_a_full_device_is_a_failure(dewar, option):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([dewar, "run", *([option] if option else []), "python", "-c",
                               "print(1)"], stdin=subprocess.DEVNULL, stdout=full,
                              stderr=subprocess.PIPE, timeout=60, env=merged_env(None),
                              check=False)
    assert done.returncode == 125
    assert b"No space left" in done.stderr and done.stderr.count(b"\n") == 1


# ---- formats of the result ----

RESULT = {"id", "status", "reason", "hint", "exit_code", "signal", "stdout", "stderr",
          "stdout_truncated", "stderr_truncated", "results", "files", "execution_time_ms",
          "cpu_time_ms", "memory_used_mb", "warnings", "findings", "proof",
          "metadata"}
METADATA = {"ok", "sandbox", "sandbox_level", "sandbox_image", "sandbox_network", "warm"}


@pytest.mark.core
@pytest.mark.parametrize("level", ["none", "process", "container"])
def test_json_is_the_only_output_and_is_complete(run, level):
    done = run("run", "--json", "--level", level, "python", "-c",
               "import sys; print('out'); print('err', file=sys.stderr)")
    assert done.returncode == 0 and done.stderr == b""
    assert done.stdout.count(b"\n") == 1 and done.stdout.endswith(b"}\n")
    answer = json.loads(done.stdout)
    assert set(answer) == RESULT
    assert set(answer["metadata"]) == METADATA
    assert {"requested", "achieved", "walls"} <= set(answer["proof"])
    assert answer["metadata"] == {"ok": True, "sandbox": level != "none", "sandbox_level": level,
                                  "sandbox_image": None,
                                  "sandbox_network": level != "container",
                                  "warm": is_warm(level)}
    assert (answer["status"], answer["reason"], answer["hint"]) == ("success", "exit", None)
    assert (answer["exit_code"], answer["signal"]) == (0, None)
    assert answer["proof"]["requested"] == answer["proof"]["achieved"] == level
    for key in "execution_time_ms", "cpu_time_ms", "memory_used_mb":
        assert answer[key] is None or answer[key] > 0
    assert answer["execution_time_ms"] is not None
    assert (answer["results"], answer["files"]) == ([], [])
    # Every run on a host mentions what that host lacks.
    assert [text for text in answer["warnings"] if "has no Landlock" not in text] == []


def test_every_run_has_an_id_of_its_own(run_json):
    ids = [run_json("sh", "-c", ":")["id"] for _ in range(5)]
    assert len(set(ids)) == 5 and all(ids)


def test_json_of_a_program_that_fails(run_json):
    answer = run_json("python", "-c", "raise SystemExit(3)")
    assert set(answer) == RESULT
    assert (answer["status"], answer["reason"], answer["exit_code"]) == ("error", "exit", 3)
    assert answer["metadata"]["ok"] is True
    assert answer["hint"]


def test_json_of_a_program_that_never_ran(run, tmp_path):
    done = run("run", "--json", "--image", tmp_path / "none", "python", "-c", "1")
    answer = json.loads(done.stdout)
    assert done.returncode == 125 and done.stdout.count(b"\n") == 1
    assert set(answer) == RESULT
    assert set(answer["metadata"]) == METADATA | {"error"}
    assert answer["metadata"]["ok"] is False


def test_json_of_output_that_is_not_utf8(run_json):
    answer = run_json("python", "-c", "import sys; sys.stdout.buffer.write("
                      "b'a\\xff\\0\\xed\\xa0\\x80\\x1b[31m\\xe2\\x82')")
    assert answer["stdout"].startswith("a\ufffd\0") and "\x1b[31m" in answer["stdout"]
    answer["stdout"].encode("utf-8")  # fails for half of a surrogate pair


def test_text_is_for_a_model(run):
    done = run("run", "--text", "python", "-c",
               "import sys; print('out'); print('err', file=sys.stderr); sys.exit(2)")
    lines = done.stdout.decode().split("\n")
    assert lines[:5] == ["exit_code: 2", "stdout:", "out", "stderr:", "err"], lines
    done = run("run", "--text", "--timeout", "300ms", "python", "-c", "while True: pass")
    text = done.stdout.decode()
    assert text.startswith("exit_code: 137\n") and "time" in text.splitlines()[-1], text
    done = run("run", "--text", "python", "-c", "print('x', end='')")
    assert done.stdout.startswith(b"exit_code: 0\nstdout:\nx\nstderr:\n"), done.stdout


def test_the_walls_are_printed_in_one_line(run):
    done = run("run", "--walls", "python", "-c", "print(1)")
    assert done.stdout == b"1\n"
    assert done.stderr.startswith(b"dewar: ") and done.stderr.count(b"\n") == 1
    assert b"container" in done.stderr
    done = run("run", "--walls", "--json", "python", "-c", "print(1)")
    json.loads(done.stdout)
    assert b"container" in done.stderr
    assert run("run", "python", "-c", "print(1)").stderr == b""


def test_the_line_starts_on_a_line_of_its_own(run):
    done = run("run", "--walls", "python", "-c", "import sys; sys.stderr.write('half')")
    assert done.stderr.startswith(b"half\ndewar: "), done.stderr


def test_a_limit_that_ends_the_program_is_reported_unless_quiet(run):
    args = ("run", "--timeout", "200ms", "python", "-c", "while True: pass")
    done = run(*args)
    assert done.returncode == 137
    assert done.stderr.startswith(b"dewar: ") and b"--timeout" in done.stderr
    assert run(*args[:1], "--quiet", *args[1:]).stderr == b""


# ---- environment ----

def test_variables_for_the_program(run):
    code = "import os; print(sorted(n for n in os.environ)); print(os.environ.get('A'))"
    done = run("run", "--env", "A=1=2", "--env", "B=", "--env", "FROM_US", "python", "-c",
               "import os; print([os.environ.get(n) for n in ('A', 'B', 'FROM_US')])",
               env={"FROM_US": "ours"})
    assert done.stdout == b"['1=2', '', 'ours']\n", done
    done = run("run", "python", "-c", code, env={"SECRET_TOKEN": "x"})
    assert b"SECRET_TOKEN" not in done.stdout and b"None" in done.stdout


def test_the_last_of_two_values_counts(run):
    done = run("run", "--env", "A=1", "--env", "A=2", "sh", "-c", "echo $A; env | grep -c ^A=")
    assert done.stdout == b"2\n1\n", done


def test_a_default_variable_can_be_replaced(run):
    done = run("run", "--env", "HOME=/nowhere", "sh", "-c", "echo $HOME; env | grep -c ^HOME=")
    assert done.stdout == b"/nowhere\n1\n", done


@pytest.mark.parametrize("variables, level", [
    ({"DEWAR_LEVEL": "process"}, "process"),
    ({"CODE_EXEC_SANDBOX": "process"}, "process"),
    ({"DEWAR_LEVEL": "container", "CODE_EXEC_SANDBOX": "process"}, "container"),
    ({"DEWAR_LEVEL": "", "CODE_EXEC_SANDBOX": "process"}, "process"),
    ({"DEWAR_LEVEL": ""}, "container"),
])
def test_default_level_from_the_environment(run_json, variables, level):
    answer = run_json("sh", "-c", ":", env=variables)
    assert answer["metadata"]["sandbox_level"] == level
    answer = run_json("--level", "none", "sh", "-c", ":", env=variables)
    assert answer["metadata"]["sandbox_level"] == "none"


def test_default_limits_from_the_environment(run_json):
    env = {"DEWAR_TIMEOUT": "7s", "DEWAR_MEMORY": "99M", "DEWAR_CPUS": "0.25", "DEWAR_PIDS": "33",
           "DEWAR_FILES": "77", "DEWAR_TMP": "5M", "DEWAR_OUTPUT": "1234"}
    limits = run_json("sh", "-c", ":", env=env)["proof"]["limits"]
    assert {name: limit["asked"] for name, limit in limits.items()} == {
        "timeout": 7000, "memory": 99 << 20, "cpu": 25, "pids": 33, "files": 77, "tmp": 5 << 20,
        "output": 1234}
    limits = run_json("--pids", "44", "sh", "-c", ":", env=env)["proof"]["limits"]
    assert limits["pids"]["asked"] == 44 and limits["files"]["asked"] == 77


def test_the_environment_supplies_limits_that_a_request_omits(run_json):
    text = json.dumps({"language": "sh", "code": ":", "limits": {"pids": 20}}).encode()
    answer = run_json("--request", "-", input=text,
                      env={"DEWAR_PIDS": "30", "DEWAR_FILES": "90", "DEWAR_LEVEL": "process"})
    limits = answer["proof"]["limits"]
    assert (limits["pids"]["asked"], limits["files"]["asked"]) == (20, 90)
    assert answer["metadata"]["sandbox_level"] == "process"


# ---- ending a run ----

@pytest.mark.parametrize("level", ["none", "process", "container"])
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
                         ids=["INT", "TERM", "HUP"])
def test_a_signal_to_dewar_ends_the_whole_cell(dewar, level, sig):
    """The program ignores all signals that it can, and its children hold its output open."""
    code = ("import os, signal\n"
            "for s in 1, 2, 15: signal.signal(s, signal.SIG_IGN)\n"
            "for _ in range(3):\n"
            "    if os.fork() == 0:\n"
            "        os.setsid()\n"
            "        while True: signal.pause()\n"
            "print('up', flush=True)\n"
            "while True: signal.pause()\n")
    with subprocess.Popen([dewar, "run", "--level", level, "python", "-c", code],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=merged_env(None)) as cell:
        assert cell.stdout.readline() == b"up\n"
        below = descendants(cell.pid)
        assert len(below) >= 4
        cell.send_signal(sig)
        assert cell.wait(MARGIN_S) == 128 + sig
        # The pipe ends when the last process that holds it has ended.
        assert cell.stdout.read() == b""
        assert cell.stderr.read() == b""
    assert [pid for pid in below if is_live(pid)] == []


def test_ctrl_c_with_json_still_gives_the_result(dewar):
    with subprocess.Popen([dewar, "run", "--json", "sh", "-c", "echo before; echo up >&2;"
                           " while :; do sleep 1; done"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, env=merged_env(None)) as cell:
        # The program sleeps after it has printed its line.
        wait_until(lambda: "sleep" in map(name_of, descendants(cell.pid)), "the shell to sleep")
        cell.send_signal(signal.SIGINT)
        answer = json.loads(cell.stdout.read())
        assert cell.wait(MARGIN_S) == 130
    assert (answer["status"], answer["reason"]) == ("error", "cancelled")
    assert answer["stdout"] == "before\n" and answer["hint"]


def test_ctrl_c_on_a_terminal(dewar):
    """The terminal sends SIGINT to all processes in the foreground."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(dewar, [dewar, "run", "python", "-c",
                          "print('up', flush=True)\nwhile True: pass"], merged_env(None))
    try:
        read_until(terminal, b"up")
        os.write(terminal, b"\x03")
        end = time.monotonic() + MARGIN_S
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            assert time.monotonic() < end, "dewar still runs"
            if select.select([terminal], [], [], 0.02)[0]:
                try:
                    os.read(terminal, 4096)
                except OSError:
                    pass
        assert os.waitstatus_to_exitcode(status) == 130
    finally:
        os.close(terminal)


def test_the_walls_are_printed_on_a_terminal_by_default(dewar):
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen([dewar, "run", "python", "-c", "print('hello')"],
                              stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                              env=merged_env({"NO_COLOR": "1"})) as cell:
            text = read_until(ours, b"container")
            assert cell.wait(MARGIN_S) == 0
        assert b"hello" in text and b"\x1b" not in text
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_program_cannot_access_the_callers_terminal(dewar):
    """The program must neither inject characters nor get it as its controlling terminal."""
    code = ("import os\ntry: os.open('/dev/tty', os.O_RDWR); print('opened')\n"
            "except OSError: print('failed')\nprint(os.isatty(0), os.isatty(1), os.isatty(2))")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(dewar, [dewar, "run", "--quiet", "python", "-c", code], merged_env(None))
    try:
        text = read_until(terminal, b"False\r\n")
        assert b"failed\r\nFalse False False" in text
        os.waitpid(pid, 0)
    finally:
        os.close(terminal)


def read_until(fd, wanted, seconds=60):
    text = b""
    end = time.monotonic() + seconds
    while wanted not in text:
        assert select.select([fd], [], [], max(0, end - time.monotonic()))[0], text
        try:
            text += os.read(fd, 4096)
        except OSError:
            break
    assert wanted in text, text
    return text
