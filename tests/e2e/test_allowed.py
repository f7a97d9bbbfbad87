# SPDX-License-Identifier: Apache-2.0
"""allowed_commands and allowed_modules: which programs and modules the code can use.

Each attempt has a control, the same without a list, which must succeed: this shows that the
list stops the attempt. Programs are started by name, by path, as copies, by other programs and
by the dynamic loader; modules are imported in all spellings, cold and warm.
"""

import base64
import glob
import json
import os
import platform
import shutil

import pytest

from e2e.helpers import assert_ended, assert_success, brief

LOADER = "/lib64/ld-linux-x86-64.so.2"
WALLED = ["container", "process"]

needs_loader = pytest.mark.skipif(
    platform.machine() != "x86_64" or not os.path.exists(LOADER), reason="another loader")
needs_node = pytest.mark.skipif(not shutil.which("node", path="/usr/local/bin:/usr/bin:/bin"),
                                reason="no node")


@pytest.fixture(scope="module", autouse=True)
def cold_by_default():
    """A list of commands makes a run cold; tests of modules choose cold or warm themselves."""
    before = os.environ.pop("DEWAR_WARM", None)
    yield
    if before is not None:
        os.environ["DEWAR_WARM"] = before


@pytest.fixture
def ask(run):
    """ask(request, warm): the result of a request; warm is the way to warm the cell, if any."""

    def ask_for(request, warm=None):
        done = run("run", "--json", "--request", "-", input=json.dumps(request).encode(),
                   env={"DEWAR_WARM": warm})
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return ask_for


@pytest.fixture
def command(ask):
    def run_command(line, allowed, level="container", **more):
        return ask({"command": line, "level": level, "allowed_commands": allowed, **more})

    return run_command


# ---- commands ----

# Lines that print DONE if the command runs, and the other commands that they need.
ATTEMPTS = {
    "by name": ("expr DONE", []),
    "by its path": ("/usr/bin/expr DONE", []),
    "by another path": ("/bin/expr DONE", []),
    "by a way around": ("/usr/../usr/bin/./expr DONE", []),
    "through env": ("env expr DONE", ["env"]),
    "through env, by its path": ("env -i /usr/bin/expr DONE", ["env"]),
    "through xargs": ("echo DONE | xargs expr", ["xargs"]),
    "through find": ("find /tmp/. -maxdepth 0 -exec expr DONE ';'", ["find"]),
    "through timeout": ("timeout 5 expr DONE", ["timeout"]),
    "through nice": ("nice /usr/bin/expr DONE", ["nice"]),
    "through awk": ("awk 'BEGIN { system(\"expr DONE\") }'", ["awk", "sh"]),
    "through a shell": ("sh -c 'exec expr DONE'", ["sh"]),
    "through exec": ("exec expr DONE", []),
    "through command": ("command -p expr DONE", []),
    "through eval": ("eval 'ex''pr DONE'", []),
    "with a PATH of its own": ("PATH=/bin:/usr/bin:/usr/local/bin; expr DONE", []),
    "in the background": ("expr DONE & wait", []),
    "by a link": ("ln -s /usr/bin/expr here; ./here DONE", ["ln"]),
    "by a script": ("printf '#!/usr/bin/echo DONE' > here; chmod +x here; ./here",
                    ["chmod"]),
    "by a script for a shell": (
        "printf '#!/bin/bash\\necho DONE' > here; chmod +x here; ./here", ["chmod"]),
    "by perl": ("perl -e 'exec \"/usr/bin/expr\", \"DONE\" or die $!'", ["perl"]),
    "by python": ("python3 -c 'import subprocess; subprocess.run([\"/usr/bin/expr\", \"DONE\"])'",
                  ["python3"]),
    "by python, a shell's": ("python3 -c 'import os; os.system(\"exec expr DONE\")'",
                             ["python3", "sh"]),
}


@pytest.mark.parametrize("level", WALLED)
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_command_that_is_not_on_the_list_is_not_started(command, attempt, level):
    line, helpers = ATTEMPTS[attempt]
    free = command(line, None, level)
    assert "DONE" in free["stdout"], brief(free)
    held = command(line, helpers, level)
    assert "DONE" not in held["stdout"], brief(held)
    assert held["metadata"]["ok"] and held["stderr"], brief(held)


@pytest.mark.parametrize("level", WALLED)
@pytest.mark.parametrize("attempt", ["by name", "by its path", "through env", "through xargs",
                                     "through find", "by a link", "by python"])
def test_a_command_on_the_list_is_started(command, attempt, level):
    line, helpers = ATTEMPTS[attempt]
    done = command(line, helpers + ["expr"], level)
    assert_success(done)
    assert "DONE" in done["stdout"]


# A program that is not on the list, sent as a file of the request.
BROUGHT = "chmod +x brought; %s"


def brought():
    with open("/usr/bin/expr", "rb") as file:
        return {"brought": base64.b64encode(file.read()).decode()}


@pytest.mark.parametrize("level", WALLED)
@pytest.mark.parametrize("way", ["./brought DONE", "mv brought cat; ./cat DONE",
                                 "ln brought other; ./other DONE",
                                 "cp brought cat; ./cat DONE",
                                 "mkdir bin; mv brought bin/cat; PATH=$PWD/bin; cat DONE"])
def test_a_copied_program_is_not_started_under_any_name(command, way, level):
    helpers = ["chmod", "mv", "ln", "cp", "mkdir", "cat"]
    free = command(BROUGHT % way, None, level, files=brought())
    assert "DONE" in free["stdout"], brief(free)
    held = command(BROUGHT % way, helpers, level, files=brought())
    assert "DONE" not in held["stdout"], brief(held)
    assert "denied" in held["stderr"] or "No such file" in held["stderr"], brief(held)


def test_no_program_starts_from_shared_memory(command):
    line = "cat brought > /dev/shm/x; chmod +x /dev/shm/x; /dev/shm/x DONE"
    free = command(line, None, files=brought())
    assert "DONE" in free["stdout"], brief(free)
    held = command(line, ["cat", "chmod"], files=brought())
    assert "DONE" not in held["stdout"] and "denied" in held["stderr"], brief(held)


def test_no_program_starts_from_a_workspace(command, tmp_path):
    (tmp_path / "out").mkdir()
    for place in (tmp_path, tmp_path / "out"):
        shutil.copy("/usr/bin/expr", place / "mine")
    for path in ("/work/mine", "/work/out/mine"):
        for line in (path + " DONE", LOADER + " " + path + " DONE"):
            more = {"workspace": str(tmp_path), "writable_paths": ["out"]}
            free = command(line, None, **more)
            assert "DONE" in free["stdout"], brief(free)
            held = command(line, ["cat"], **more)
            assert "DONE" not in held["stdout"] and held["stderr"], brief(held)


@needs_loader
@pytest.mark.parametrize("level", WALLED)
def test_the_dynamic_loader_starts_no_installed_program_off_the_list(command, level):
    line = LOADER + " /usr/bin/expr DONE"
    free = command(line, None, level)
    assert "DONE" in free["stdout"], brief(free)
    held = command(line, ["cat"], level)
    assert "DONE" not in held["stdout"] and "cannot open" in held["stderr"], brief(held)


@needs_loader
@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_the_dynamic_loader_starts_no_program_that_came_with_the_request(command, folder):
    line = "cat brought > %s/x; %s %s/x DONE" % (folder, LOADER, folder)
    free = command(line, None, files=brought())
    assert "DONE" in free["stdout"], brief(free)
    held = command(line, ["cat"], files=brought())
    assert "DONE" not in held["stdout"] and held["stderr"], brief(held)


MEMFD = """
import os
f = os.memfd_create("x")
os.write(f, open("/tmp/brought", "rb").read())
os.execv("/proc/self/fd/%d" % f, ["x", "DONE"])
"""


def test_a_memfd_is_not_executed(ask):
    request = {"language": "python", "code": MEMFD, "files": brought()}
    free = ask(request)
    assert "DONE" in free["stdout"], brief(free)
    held = ask({**request, "allowed_commands": ["cat"]})
    assert "DONE" not in held["stdout"] and "Function not implemented" in held["stderr"]


@pytest.mark.parametrize("level", WALLED)
def test_programs_outside_the_usual_folders_are_not_started(command, level):
    """The C library can be executed too, and is not in a folder of programs."""
    found = glob.glob("/usr/lib/*-linux-gnu/libc.so.6")
    if not found or not os.access(found[0], os.X_OK):
        pytest.skip("no such library")
    free = command(found[0], None, level)
    assert "GNU C Library" in free["stdout"], brief(free)
    held = command(found[0], [], level)
    assert "denied" in held["stderr"] and held["exit_code"] == 126, brief(held)


def test_a_program_of_the_host_runs_with_an_empty_list(run, tmp_path):
    mine = tmp_path / "mine"
    shutil.copy("/usr/bin/expr", mine)
    os.chmod(tmp_path, 0o755)
    for level in WALLED:
        level = "--level=" + level
        assert run("run", level, mine, "DONE").stdout == b"DONE\n"
        assert run("run", level, "--allow-commands=", mine, "DONE").stdout == b"DONE\n"


def test_a_multi_call_binary_is_refused(ask, tmp_path):
    """Its shell runs all applets without exec, so that the kernel would check none of them."""
    for box in ("busybox", "dash"):
        (tmp_path / box / "bin").mkdir(parents=True)
        shutil.copy("/usr/bin/dash", tmp_path / box / "bin" / box)
        (tmp_path / box / "bin" / "sh").symlink_to(box)
    request = {"command": "echo DONE", "allowed_commands": []}
    held = ask({**request, "image": str(tmp_path / "busybox")})
    assert_ended(held, "error", "unavailable", "allowed_commands", "many programs")
    free = ask({**request, "image": str(tmp_path / "dash")})
    assert "many programs" not in free["hint"]  # fails only because its libraries are missing


def test_only_allowed_commands_are_visible(command):
    assert "expr\n" in command("ls /usr/bin /bin", None)["stdout"]
    held = command("ls /usr/bin", ["ls", "cat", "no-such-program"])
    assert_success(held)
    names = set(held["stdout"].split())
    assert {"ls", "cat", "sh"} <= names and len(names) <= 4, names
    assert command("ls /usr/sbin /usr/local/bin", ["ls"])["stdout"].split() == [
        "/usr/local/bin:", "/usr/sbin:"]


@pytest.mark.parametrize("level", WALLED)
def test_with_an_empty_list_only_the_shell_runs(command, level):
    done = command("echo $((6 * 7)); expr DONE", [], level)
    assert done["stdout"] == "42\n" and done["exit_code"] == 127, brief(done)


HELLO = {
    "python": "print('DONE')", "javascript": "console.log('DONE')", "ruby": "puts 'DONE'",
    "php": "echo 'DONE';", "perl": "print 'DONE'", "lua": "print('DONE')", "bash": "echo DONE",
    "sh": "echo DONE", "zsh": "echo DONE",
}


@pytest.mark.parametrize("level", WALLED)
@pytest.mark.parametrize("language", HELLO)
def test_an_interpreter_runs_its_code_with_an_empty_list(ask, language, level):
    request = {"language": language, "code": HELLO[language], "level": level}
    free = ask(request)
    if free["reason"] == "unavailable":
        pytest.skip(free["hint"])
    assert "DONE" in free["stdout"], brief(free)
    assert "DONE" in ask({**request, "allowed_commands": []})["stdout"]


START = "import subprocess; print(subprocess.run(['/usr/bin/expr', 'DONE']))"


@pytest.mark.parametrize("level", WALLED)
def test_python_starts_what_is_on_the_list(ask, level):
    request = {"language": "python", "code": START, "level": level}
    assert "DONE" in ask(request)["stdout"]
    assert "DONE" in ask({**request, "allowed_commands": ["expr"]})["stdout"]
    held = ask({**request, "allowed_commands": ["cat"]})
    assert "DONE" not in held["stdout"] and "/usr/bin/expr" in held["stderr"], brief(held)


@pytest.mark.parametrize("level", WALLED)
def test_a_script_on_the_list_may_use_its_interpreter(command, level):
    """ldd is a script for bash, which is not on the list."""
    if not os.access("/usr/bin/ldd", os.X_OK):
        pytest.skip("no ldd")
    line = "ldd --version"
    assert_success(command(line, ["ldd", "cat"], level))
    assert command(line, ["cat"], level)["exit_code"] == 127


@pytest.mark.parametrize("level", WALLED)
def test_the_proof_says_what_may_be_executed(command, level):
    walls = command("echo 1", ["cat", "ls"], level)["proof"]["walls"]
    assert walls["commands"]["programs"] == 4  # and the shell, and the loader of all three
    kernel = tuple(map(int, platform.release().split("-")[0].split(".")[:2]))
    assert walls["commands"]["others_refused"] is (True if kernel >= (6, 14) else None)
    assert command("echo 1", None, level)["proof"]["walls"]["commands"] is None


@pytest.mark.parametrize("level", ["none", "docker"])
def test_a_level_that_cannot_enforce_the_list_refuses_the_run(command, level):
    held = command("echo DONE", ["cat"], level)
    assert_ended(held, "error", "unavailable", "allowed_commands", level, "container")
    assert "DONE" not in held["stdout"]


@pytest.mark.parametrize("language", ["c", "go", "rust", "java", "typescript", "r", "binary"])
def test_a_language_that_needs_more_programs_refuses_a_list(ask, language):
    held = ask({"language": language, "code": "", "allowed_commands": ["cat"]})
    assert_ended(held, "error", "unavailable", "allowed_commands", language)


def test_the_next_level_is_used_if_it_can_enforce_the_list(command):
    done = command("echo DONE", [], "none,container")
    assert done["proof"]["achieved"] == "container" and "DONE" in done["stdout"]


@pytest.mark.parametrize("name", ["/usr/bin/cat", "a/b", "", ".."])
def test_a_path_is_refused_as_the_name_of_a_command(run, name):
    done = run("run", "--request", "-", input=json.dumps(
        {"command": "true", "allowed_commands": [name]}).encode())
    assert done.returncode == 125 and b"allowed_commands" in done.stderr


def test_options_take_lists_separated_by_commas(run):
    assert run("exec", "expr DONE").stdout == b"DONE\n"
    assert run("exec", "--allow-commands", "cat,expr", "expr DONE").stdout == b"DONE\n"
    assert run("exec", "--allow-commands=cat", "--allow-commands", "expr ,",
               "expr DONE").stdout == b"DONE\n"
    assert run("exec", "--allow-commands", "cat", "expr DONE").returncode == 127
    assert run("exec", "--allow-commands", "", "expr DONE").returncode == 127
    assert run("run", "--allow-modules", "json,math", "python", "-c",
               "import math; print('DONE')").stdout == b"DONE\n"
    assert b"json" in run("run", "--allow-modules", "json", "python", "-c",
                          "import math; print('DONE')").stderr


def test_a_list_of_commands_runs_cold(ask):
    request = {"language": "python", "code": START}
    free = ask(request, "standby")
    assert free["metadata"]["warm"] and "DONE" in free["stdout"], brief(free)
    held = ask({**request, "allowed_commands": ["cat"]}, "standby")
    assert "DONE" not in held["stdout"] and not held["metadata"]["warm"], brief(held)


# ---- modules ----

PYTHON = {
    "plain": "import os; print('DONE')",
    "renamed": "import os as o; print('DONE')",
    "from": "from os import path; print('DONE')",
    "star": "from os import *; print('DONE')",
    "part": "import os.path; print('DONE')",
    "several": "import json, os; print('DONE')",
    "in a function": "def f():\n import os\n print('DONE')\nf()",
    "in a class": "class A:\n import os\nprint('DONE')",
    "by text": "exec('import os'); print('DONE')",
    "by compiled text": "exec(compile('import os', 'x', 'exec')); print('DONE')",
    "by eval": "eval('__import__(\"os\")'); print('DONE')",
    "by call": "__import__('o' + 's'); print('DONE')",
    "by call, as C does": "m = __import__('os', globals(), globals(), [], 0)\n"
                          "m.getpid(); print('DONE')",
    "by a str of its own": "class S(str):\n def __eq__(s, o): return True\n"
                           " __hash__ = str.__hash__\n"
                           " def startswith(s, *a): return True\n"
                           "__import__(S('os')); print('DONE')",
    "by builtins": "__builtins__.__import__('os'); print('DONE')",
    "by globals": "exec('import os', {}); print('DONE')",
    "in a thread of text": "(lambda: __import__('os'))(); print('DONE')",
    "not loaded yet": "import wave; print('DONE')",
    "C": "import _socket; print('DONE')",
    "frozen": "import __hello__; print('DONE')",
    "missing": "try:\n import no_such_module\nexcept ModuleNotFoundError:\n print('DONE')\n",
}

WAYS = ["cold", "standby", "fork", "process", "none"]


@pytest.fixture
def code(ask):
    """code(text, allowed, way, language): the result of code that runs cold or warm (way)."""

    def run_code(text, allowed, way, language="python", **more):
        warm = way if way in ("standby", "fork") else None
        result = ask({"language": language, "code": text, "allowed_modules": allowed,
                      "level": way if way in ("process", "none") else "container", **more}, warm)
        assert result["metadata"]["warm"] == bool(warm), brief(result)
        return result

    return run_code


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spelling", PYTHON)
def test_python_imports_no_module_that_is_not_on_the_list(code, spelling, way):
    free = code(PYTHON[spelling], None, way)
    assert "DONE" in free["stdout"], brief(free)
    held = code(PYTHON[spelling], ["json", "math"], way)
    assert "DONE" not in held["stdout"] and held["exit_code"] == 1, brief(held)
    if spelling not in ("by a str of its own", "by call, as C does"):
        assert "ImportError" in held["stderr"], brief(held)
        assert "may not be imported here; these may: json, math" in held["stderr"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", [
    "import importlib\nimportlib.import_module('os')\nprint('DONE')",
    "import importlib\nimportlib.import_module('wave')\nprint('DONE')",
    "import importlib\nimportlib.__import__('os')\nprint('DONE')",
    "from importlib import import_module as i\ni('o' + 's')\nprint('DONE')",
    "import importlib\nimportlib._bootstrap._gcd_import('wave')\nprint('DONE')",
])
def test_importlib_imports_no_module_that_is_not_on_the_list(code, text, way):
    assert "DONE" in code(text, None, way)["stdout"]
    assert "DONE" in code(text, ["importlib", "os", "wave"], way)["stdout"]
    held = code(text, ["importlib"], way)
    assert "DONE" not in held["stdout"], brief(held)
    assert "may not be imported here; these may: importlib" in held["stderr"], brief(held)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text, allowed", [
    ("import json; print('DONE', json.loads('[1]'))", ["json"]),
    ("import json.decoder; print('DONE')", ["json"]),
    ("from json import decoder; print('DONE')", ["json"]),
    ("from json import decoder; print('DONE')", ["json.decoder"]),
    ("import xml.etree.ElementTree as e; print('DONE', e.fromstring('<a/>'))", ["xml.etree"]),
    ("import datetime; print('DONE', datetime.datetime.strptime('20', '%y'))", ["datetime"]),
    ("import random; print('DONE', random.random())", ["random"]),
    ("import decimal; print('DONE', decimal.Decimal(1) / 3)", ["decimal"]),
    ("import asyncio; asyncio.run(asyncio.sleep(0)); print('DONE')", ["asyncio"]),
    ("from dataclasses import dataclass\n@dataclass\nclass A:\n b: int\nprint('DONE', A(1))",
     ["dataclasses"]),
    ("from collections import namedtuple as n; print('DONE', n('A', 'b')(1))", ["collections"]),
    ("print('DONE', 'ä'.encode('idna'))", []),
])
def test_python_imports_allowed_modules_and_their_dependencies(code, text, allowed, way):
    assert "DONE" in code(text, None, way)["stdout"]
    held = code(text, allowed, way)
    assert_success(held)
    assert "DONE" in held["stdout"]


def test_allowing_a_submodule_does_not_allow_its_whole_package(code):
    assert "DONE" in code("import xml; print('DONE')", ["xml"], "cold")["stdout"]
    held = code("import xml; print('DONE')", ["xml.etree"], "cold")
    assert "DONE" not in held["stdout"] and "these may: xml.etree" in held["stderr"]
    held = code("import jsonx", ["json"], "cold")
    assert "jsonx may not be imported" in held["stderr"], brief(held)


def test_the_list_also_applies_to_modules_that_a_template_loaded(code):
    text = "import numpy; print('DONE', numpy.arange(4).sum())"
    free = code(text, None, "standby", template="python-data")
    if "No module" in free["stderr"]:
        pytest.skip("no numpy")
    assert "DONE 6" in free["stdout"], brief(free)
    assert "DONE 6" in code(text, ["numpy"], "standby",
                            template="python-data")["stdout"]
    held = code(text, ["json"], "standby", template="python-data")
    assert "numpy may not be imported" in held["stderr"], brief(held)


def encode(**files):
    return {name.replace("__", "."): base64.b64encode(text.encode()).decode()
            for name, text in files.items()}


@pytest.mark.parametrize("way", WAYS)
def test_the_list_also_applies_to_modules_beside_the_code(code, way):
    files = encode(helper__py="import os\nprint('DONE')\n", json__py="import os\nprint('DONE')\n")
    for name in ("helper", "json"):
        assert "DONE" in code("import " + name, None, way, files=files)["stdout"]
        held = code("import " + name, ["helper", "json"], way, files=files)
        assert "os may not be imported" in held["stderr"], brief(held)
        assert "DONE" not in held["stdout"]


def test_no_code_of_the_request_runs_before_the_import_hook(code):
    files = encode(sitecustomize__py="import os\nprint('DONE')\n")
    env = {"PYTHONPATH": "/tmp"}
    assert "DONE" in code("", None, "cold", files=files, env=env)["stdout"]
    held = code("print(1)", [], "cold", files=files, env=env)
    assert_success(held)
    assert held["stdout"] == "1\n"


def test_a_list_in_the_environment_is_ignored(code):
    held = code("import os", ["json"], "cold", env={"DEWAR_MODULES": "os"})
    assert "these may: json" in held["stderr"], brief(held)


@pytest.mark.parametrize("way", WAYS)
def test_python_otherwise_behaves_as_without_a_list(code, way):
    text = ("import sys\nprint(sys.argv[1:], __name__, __file__[-8:], sys.path[0][:4],"
            " len(sys.modules['__main__'].__dict__) > 5)\nimport helper\n"
            "print(open('/dev/null').read() == '')\n1 / 0")
    more = {"args": ["a", "b"], "files": encode(helper__py="print('helped')\n")}
    free, held = code(text, None, way, **more), code(text, ["sys", "helper"], way, **more)
    assert held["stdout"] == free["stdout"] and "helped" in free["stdout"], brief(held)
    assert held["exit_code"] == free["exit_code"] == 1

    def lines(result):  # at some levels the name of the working folder differs between runs
        return [line.strip() for line in result["stderr"].splitlines() if "File" not in line]

    assert lines(held) == lines(free)
    assert code("raise SystemExit(3)", [], way)["exit_code"] == 3


NODE = {
    "require": "require('fs'); console.log('DONE')",
    "node:": "require('node:fs'); console.log('DONE')",
    "computed": "require('f' + 's'); console.log('DONE')",
    "part": "require('fs/promises'); console.log('DONE')",
    "import": "import('fs').then(() => console.log('DONE'))",
    "import, computed": "import('node:' + 'fs').then(() => console.log('DONE'))",
    "through data:": "import('data:text/javascript,import \"fs\"').then(() => console.log('DONE'))",
    "mainModule": "process.mainModule.require('fs'); console.log('DONE')",
    "_load": "module.constructor._load('fs'); console.log('DONE')",
    "_load, as another": "module.constructor._load('fs', { filename: '/usr/x', id: 'x',"
                         " paths: [] }); console.log('DONE')",
    "createRequire": "module.constructor.createRequire('/usr/x')('fs'); console.log('DONE')",
    "getBuiltinModule": "(process.getBuiltinModule || require)('fs'); console.log('DONE')",
    "through eval": "eval(\"require('fs')\"); console.log('DONE')",
    "through Function": "new Function('r', \"r('fs')\")(require); console.log('DONE')",
    "in a file beside": "require('./beside.js'); console.log('DONE')",
    "in a module beside": "import('./beside.mjs').then(() => console.log('DONE'))",
}
NODE_WAYS = ["cold", "standby", "process", "none"]


@needs_node
@pytest.mark.parametrize("way", NODE_WAYS)
@pytest.mark.parametrize("spelling", NODE)
def test_node_imports_no_module_that_is_not_on_the_list(code, spelling, way):
    more = {"files": encode(beside__js="require('fs')", beside__mjs="import 'fs'")}
    free = code(NODE[spelling], None, way, "javascript", **more)
    assert "DONE" in free["stdout"], brief(free)
    held = code(NODE[spelling], ["path", "node:util"], way, "javascript", **more)
    assert "DONE" not in held["stdout"] and held["exit_code"] == 1, brief(held)
    assert "may not be imported here; these may: path, node:util" in held["stderr"], brief(held)


@needs_node
@pytest.mark.parametrize("way", NODE_WAYS)
@pytest.mark.parametrize("text", [
    "console.log('DONE', require('path').join('a', 'b'))",
    "console.log('DONE', require('node:util').format('%s', 1))",
    "console.log('DONE', require('util/types') !== undefined)",
    "import('util').then((util) => console.log('DONE', util.inspect(1)))",
    "import('./beside.mjs').then((beside) => console.log('DONE', beside.default))",
    "console.log('DONE', require('./beside.js'), __filename.slice(-7), process.argv.length)",
    "setTimeout(() => console.log('DONE'), 1)",
])
def test_node_imports_allowed_modules(code, text, way):
    more = {"args": ["a"], "files": encode(
        beside__js="module.exports = require('path').sep",
        beside__mjs="import { sep } from 'node:path'; export default sep")}
    free = code(text, None, way, "javascript", **more)
    held = code(text, ["path", "node:util"], way, "javascript", **more)
    assert_success(held)
    assert held["stdout"] == free["stdout"] and "DONE" in held["stdout"]


@needs_node
@pytest.mark.parametrize("way", NODE_WAYS)
def test_node_refuses_a_worker_that_would_escape_the_list(code, way):
    text = ("const { Worker } = require('worker_threads');\n"
            "new Worker(\"require('fs'); console.log('DONE')\", { eval: true })")
    assert "DONE" in code(text, None, way, "javascript")["stdout"]
    held = code(text, ["worker_threads"], way, "javascript")
    assert "DONE" not in held["stdout"] and "would not be held" in held["stderr"], brief(held)


@pytest.mark.parametrize("language", ["ruby", "typescript", "c", "bash", "perl"])
def test_a_language_without_an_import_hook_refuses_a_list(ask, language):
    held = ask({"language": language, "code": "", "allowed_modules": ["x"]})
    assert_ended(held, "error", "unavailable", "allowed_modules", language, "python")


def test_a_list_of_modules_is_refused_for_a_command(ask):
    held = ask({"command": "echo DONE", "allowed_modules": []})
    assert_ended(held, "error", "unavailable", "allowed_modules", "command")


def test_both_lists_apply_together(ask):
    request = {"language": "python", "code": START, "allowed_modules": ["subprocess"]}
    assert "DONE" in ask({**request, "allowed_commands": ["expr"]})["stdout"]
    assert "DONE" not in ask({**request, "allowed_commands": []})["stdout"]
    assert "DONE" not in ask({**request, "allowed_modules": [],
                              "allowed_commands": ["expr"]})["stdout"]


def test_the_audit_record_contains_both_lists(run, tmp_path):
    path = tmp_path / "audit.db"
    run("run", "--audit", path, "--request", "-", input=json.dumps(
        {"language": "python", "code": "1", "allowed_commands": ["cat"],
         "allowed_modules": []}).encode())
    shown = run("audit", "export", "--file", path).stdout
    assert b"allowed_commands" in shown and b"allowed_modules" in shown
