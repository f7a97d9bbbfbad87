# SPDX-License-Identifier: Apache-2.0
"""Wrong input gets exit status 125 and one line that says what is wrong."""

import json
import os
import pathlib
import subprocess

import pytest

pytestmark = [pytest.mark.once, pytest.mark.cold]

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEWAR = os.environ.get("DEWAR", str(ROOT / "build" / "dewar"))

# The caller's environment must not affect these tests.
ENV = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("DEWAR_") and name != "CODE_EXEC_SANDBOX"
}


def dewar(*args, env=None, **more):
    if "input" not in more:
        more["stdin"] = subprocess.DEVNULL
    return subprocess.run(
        [DEWAR, *map(str, args)],
        capture_output=True,
        text=True,
        env={**ENV, **(env or {})},
        timeout=20,
        **more,
    )


def check(done, *wanted, as_json=False):
    """Dewar printed one line that contains all wanted words, or the same error as JSON."""
    assert done.returncode == 125, done
    assert done.stderr.startswith("dewar: "), done.stderr
    assert done.stderr.endswith("\n") and done.stderr.count("\n") == 1, done.stderr
    for word in wanted:
        assert word in done.stderr
    if not as_json:
        assert done.stdout == ""
        return
    answer = json.loads(done.stdout)
    assert set(answer) == {"error"} and set(answer["error"]) == {"code", "message", "hint"}
    assert answer["error"]["code"] in ("invalid", "not_found", "denied", "unsupported")
    assert answer["error"]["message"] == done.stderr[len("dewar: ") : -1]


# The wrong arguments, and the words that the message must contain.
WRONG = {
    "unknown option": (["run", "--memry", "1g", "python", "-c", "1"], ["--memry", "--memory"]),
    "unknown letter": (["run", "-z", "python", "-c", "1"], ["-z"]),
    "option of the program": (["exec", "ls", "-l"], ["-l", "--"]),
    "argument missing": (["run", "python", "-c"], ["--code", "CODE"]),
    "argument too much": (["run", "--strict=yes", "python", "-c", "1"], ["--strict"]),
    "unknown language": (["run", "pyhton", "-c", "1"], ["pyhton", "python"]),
    "unlike any language": (["run", "klingon", "-c", "1"], ["klingon", "must be one of", "python", "java"]),
    "slip in the language": (["run", "pyhton", "x.py"], ["pyhton", "python"]),
    "unknown level": (["run", "--level", "fort", "python", "-c", "1"], ["--level", "fort"]),
    "slip in a level": (
        ["run", "--level", "process,contaner", "python", "-c", "1"],
        ["contaner", "container"],
    ),
    "unknown size unit": (["run", "--memory", "5q", "python", "-c", "1"], ["--memory", "5q"]),
    "unknown time unit": (["run", "--timeout", "5y", "python", "-c", "1"], ["--timeout", "5y"]),
    "negative": (["run", "--pids", "-1", "python", "-c", "1"], ["--pids", "-1"]),
    "zero": (["run", "--timeout", "0", "python", "-c", "1"], ["--timeout"]),
    "a long zero": (["run", "--timeout", "0" * 600, "x.py"], ["--timeout", "must be at least 1ms", "--help"]),
    "a long network": (["run", "--network", "n" * 600, "x.py"], ["--network", "full", "--help"]),
    "not a share": (["run", "--cpus", "much", "python", "-c", "1"], ["--cpus", "much"]),
    "too big": (["run", "--tmp", "9" * 30, "python", "-c", "1"], ["--tmp"]),
    "unknown network": (["run", "--network", "lan", "python", "-c", "1"], ["--network", "lan"]),
    "variable without name": (["run", "--env", "=1", "python", "-c", "1"], ["--env"]),
    "variable not set": (["run", "--env", "NO_SUCH_V", "python", "-c", "1"], ["NO_SUCH_V"]),
    "nothing to run": (["run"], ["dewar run --help"]),
    "no language": (["run", "-c", "1"], ["language"]),
    "no code": (["run", "python"], ["-c CODE"]),
    "input of no language": (["run", "-"], ["language"]),
    "no command": (["exec"], ["dewar exec --help"]),
    "two commands": (["exec", "-c", "true", "ls"], ["-c", "ls"]),
    "json and text": (["run", "--json", "--text", "python", "-c", "1"], ["--json", "--text"]),
    "option beside a request": (["run", "--request", "-", "--memory", "1g"], ["--memory"]),
    "word beside a request": (["run", "--request", "-", "python"], ["python"]),
    "modules for a shell": (["exec", "--allow-modules", "json", "true"],
                            ["unknown option", "--allow-modules", "dewar exec --help"]),
    "into nowhere": (
        ["run", "python", "-c", "1", "--collect", "x", "--into", "no/such/folder"],
        ["no/such/folder"],
    ),
    "unknown pull": (["run", "--pull", "nevr", "python", "-c", "1"], ["--pull", "did you mean never"]),
    "unknown status": (["audit", "list", "--status", "sucss"], ["--status", "did you mean success", "interrupted"]),
    "unknown front door": (["policy", "explain", "--door", "htpp", "python", "-c", "1"],
                           ["--door must be cli, http or mcp", "did you mean http"]),
    "unknown way": (["verify", "--way", "warm"], ["--way must be cold, standby, fork or all"]),
    "one of several rows": (["bench", "--only", "cold,forkk"], ["--only", "did you mean fork"]),
    "no row": (["bench", "--only", "cold,"], ["--only", "bare-python"]),
    "one of several scopes": (["keys", "add", "x", "--scope", "run,admim"], ["--scope", "did you mean admin"]),
    "word beside a request to explain": (["policy", "explain", "--request", "-", "python"],
                                         ["unexpected argument", "python"]),
    "dashes": (["run", "py\u2013\u201cthon\u201d", "-c", "1"], ["py\u2013\u201cthon\u201d"]),
    "attacks as json": (["verify", "--list", "--json"], ["--list", "--json"]),
    "two lists of approvals": (["approve", "list", "--all", "--remembered"], ["--all", "--remembered"]),
    "modules of a script": (["check", "bash", "--allow-modules", "json", "-c", "ls"], ["--allow-modules"]),
    "head with its label": (["audit", "verify", "--head", "head: 1:00"], ["SEQ:HASH"]),
    "operand of languages": (["languages", "python"], ["python"]),
    "operand of doctor": (["doctor", "please"], ["please"]),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("as_json", [False, True], ids=["line", "json"])
def test_wrong_command_line(name, as_json, tmp_path):
    args, wanted = WRONG[name]
    if as_json and "--json" not in args:
        # In front, so that it is not parsed as the missing argument of an option.
        args = [args[0], "--json", *args[1:]]
    done = dewar(*args, cwd=tmp_path)
    check(done, *wanted, as_json="--json" in args)


@pytest.mark.parametrize(
    "args, wanted",
    [
        ([], ["dewar --help"]),
        (["rnu"], ["rnu", "did you mean run"]),
        (["frobnicate"], ["frobnicate", "dewar --help"]),
        (["--frobnicate"], ["--frobnicate", "dewar --help"]),
        (["completion"], ["dewar completion --help"]),
        (["completion", "csh"], ["csh", "bash"]),
        (["completion", "bash", "zsh"], ["unexpected", "zsh"]),
        (["version", "please"], ["please"]),
    ],
)
def test_a_wrong_command_line_names_the_mistake(args, wanted):
    check(dewar(*args), *wanted)


def test_unknown_command_answers_in_json_if_asked():
    check(dewar("rnu", "--json"), "rnu", as_json=True)


@pytest.mark.parametrize(
    "variable, value",
    [
        ("DEWAR_LEVEL", "fort"),
        ("CODE_EXEC_SANDBOX", "fort"),
        ("DEWAR_TIMEOUT", "5y"),
        ("DEWAR_MEMORY", "5q"),
        ("DEWAR_CPUS", "much"),
        ("DEWAR_PIDS", "-1"),
        ("DEWAR_FILES", "many"),
        ("DEWAR_TMP", "5q"),
        ("DEWAR_OUTPUT", "5q"),
        ("DEWAR_NETWORK", "lan"),
    ],
)
def test_wrong_variable_is_named(variable, value):
    done = dewar("run", "--json", "python", "-c", "1", env={variable: value})
    check(done, variable, value, as_json=True)


def as_code(path):
    return ["run", path]


def as_code_of_language(path):
    return ["run", "python", path]


def as_file(path):
    return ["run", "python", "-c", "1", "--file", path]


def as_request(path):
    return ["run", "--request", path]


WAYS = [as_code, as_code_of_language, as_file, as_request]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("as_json", [False, True], ids=["line", "json"])
class TestFiles:
    def refuse(self, way, as_json, path, *wanted):
        args = way(path)
        if as_json:
            args.insert(1, "--json")
        check(dewar(*args), path.name, *wanted, as_json=as_json)

    def test_a_missing_file_is_refused(self, way, as_json, tmp_path):
        self.refuse(way, as_json, tmp_path / "no.py", "no such file")

    def test_a_folder_is_refused(self, way, as_json, tmp_path):
        path = tmp_path / "folder.py"
        path.mkdir()
        self.refuse(way, as_json, path, "folder")

    def test_a_fifo_is_refused(self, way, as_json, tmp_path):
        path = tmp_path / "fifo.py"
        os.mkfifo(path)
        self.refuse(way, as_json, path, "not a regular file")

    @pytest.mark.privilege
    def test_an_unreadable_file_is_refused(self, way, as_json, tmp_path, must):
        must(os.geteuid() != 0, "root can read every file")
        path = tmp_path / "secret.py"
        path.write_text("print(1)")
        path.chmod(0)
        self.refuse(way, as_json, path, "Permission denied")

    def test_a_file_that_is_too_large_is_refused(self, way, as_json, tmp_path):
        path = tmp_path / "big.py"
        with open(path, "wb") as file:
            file.truncate((512 if way is as_request else 64) * 1024 * 1024 + 1)
        self.refuse(way, as_json, path, "must be at most")


def test_code_of_an_unknown_language_is_refused(tmp_path):
    path = tmp_path / "notes"
    path.write_text("hello")
    check(dewar("run", path), "notes", "dewar run LANG")


def test_code_on_standard_input_has_a_maximum_size():
    with open("/dev/zero", "rb") as zeros:
        done = subprocess.run(
            [DEWAR, "run", "python", "-"],
            stdin=zeros,
            capture_output=True,
            text=True,
            env=ENV,
            timeout=60,
        )
    check(done, "standard input", "must be at most")


def test_a_file_name_cannot_lead_out_of_the_cell(tmp_path):
    path = tmp_path / "x"
    path.write_text("x")
    check(dewar("run", "python", "-c", "1", "--file", f"../x={path}"), "../x")


@pytest.mark.parametrize(
    "request_, wanted",
    [
        ({"language": "python", "code": "1", "colour": "red"}, "colour"),
        ({"language": "python", "code": "1", "limits": {"memory": 5}}, "memory"),
        ({"language": "python", "code": 1}, "code"),
        ({"language": "python", "code": "1", "limits": {"pids": "many"}}, "pids"),
        ({"language": "klingon", "code": "1"}, "klingon"),
        ({"language": "python", "code": "1", "level": "fort"}, "fort"),
        ({"language": "python", "code": "1", "network": "lan"}, "network"),
        ({"language": "python"}, "code"),
        ([], "object"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True], ids=["line", "json"])
def test_wrong_request_names_the_key(request_, wanted, as_json):
    args = ["run", "--request", "-", *(["--json"] if as_json else [])]
    check(dewar(*args, input=json.dumps(request_)), wanted, as_json=as_json)


@pytest.mark.parametrize("text", ["", "{", "{} {}", '{"language": "python"', "\0", "nonsense"])
def test_a_request_that_is_not_json_is_refused(text):
    check(dewar("run", "--json", "--request", "-", input=text), "--request", as_json=True)


def test_text_with_newlines_and_escapes_stays_on_one_line():
    done = dewar("run", "a\nb\033[31mc", "-c", "1")
    check(done)
    assert "\033" not in done.stderr


def test_name_that_is_not_utf8_still_gives_json():
    done = subprocess.run(
        [DEWAR.encode(), b"run", b"--json", b"/no/such/\xff.py"],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=ENV,
        timeout=20,
    )
    assert done.returncode == 125
    assert done.stderr.count(b"\n") == 1
    assert "\ufffd.py" in json.loads(done.stdout)["error"]["message"]
