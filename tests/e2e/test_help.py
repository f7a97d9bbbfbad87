# SPDX-License-Identifier: Apache-2.0
"""--help, the man pages and the completion of shells agree."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

pytestmark = [pytest.mark.once, pytest.mark.cold]

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEWAR = os.environ.get("DEWAR", str(ROOT / "build" / "dewar"))
MAN = ROOT / "docs" / "man"

COMMANDS = ["run", "exec", "check", "policy", "serve", "mcp", "tool-schema", "keys", "approve",
            "languages",
            "audit", "doctor", "verify", "bench", "completion"]
LEVELS = {"none", "process", "container", "docker", "microvm"}
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][a-z-]*")


def dewar(*args):
    done = subprocess.run(
        [DEWAR, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def options_of_help(text):
    """Options are at the beginning of a line, indented by two or six blanks."""
    found = set()
    for line in text.splitlines():
        row = re.match(r"  (?:-\w, |    )?--[a-z-]+", line)
        if row:
            found.update(OPTION.findall(row.group()))
    return found


def options_of_page(name):
    """Options are the terms under OPTIONS: lines that begin with a bold dash."""
    text = (MAN / f"{name}.1.scd").read_text()
    section = re.search(r"^# OPTIONS\n(.*?)(?=^# |\Z)", text, re.M | re.S)
    assert section, f"{name}(1) has no OPTIONS"
    found = set()
    for line in section.group(1).splitlines():
        if line.startswith("*-"):
            found.update(OPTION.findall(line.replace("*", " ")))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_man_page_list_the_same_options(command):
    in_help = options_of_help(dewar(command, "--help"))
    assert {"-h", "--help"} <= in_help
    assert in_help == options_of_page(f"dewar-{command}")


def test_help_of_dewar_and_its_man_page_list_the_same_options():
    assert options_of_help(dewar("--help")) == options_of_page("dewar")


def test_every_command_has_help_and_is_in_the_overview():
    listed = re.search(r"^Commands:\n(.*?)\n\n", dewar("--help"), re.M | re.S).group(1)
    names = [line.split()[0] for line in listed.splitlines()]
    overview = (MAN / "dewar.1.scd").read_text()
    # version is listed in the overview and has no page of its own.
    assert sorted(names) == sorted([*COMMANDS, "version"])
    for name in names:
        assert dewar(name, "--help").startswith(f"Usage: dewar {name}")
        assert f"*dewar {name}*" in overview


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_terminal(command):
    for line in dewar(command, "--help").splitlines():
        assert len(line) <= 100


def test_both_ways_to_ask_for_the_version_agree():
    assert re.fullmatch(r"dewar \d+\.\d+\.\d+\S*\n", dewar("version"))
    assert dewar("version") == dewar("--version")


@pytest.mark.parametrize("page", sorted(p.name for p in MAN.glob("*.scd")))
def test_scdoc_accepts_the_page(page, must):
    must(shutil.which("scdoc"), "scdoc is not installed")
    with open(MAN / page, "rb") as source:
        done = subprocess.run(["scdoc"], stdin=source, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b".")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_shell_can_parse_its_completion_script(shell, tmp_path, must):
    must(shutil.which(shell), f"{shell} is not installed")
    script = tmp_path / f"dewar.{shell}"
    script.write_text(dewar("completion", shell))
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr


@pytest.fixture
def complete(tmp_path, must):
    """complete(*words): the completions of the last word in bash."""
    must(shutil.which("bash"), "bash is not installed")
    script = tmp_path / "dewar.bash"
    script.write_text(dewar("completion", "bash"))
    (tmp_path / "a folder").mkdir()

    def ask_bash(*words):
        code = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            '_dewar; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", code, "bash", script, *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=60,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    return ask_bash


@pytest.fixture
def bash_offers(complete, tmp_path):
    def offers(*words):
        return set(complete("dewar", *words)) - {path.name for path in tmp_path.iterdir()}

    return offers


@pytest.fixture
def zsh_offers(tmp_path, must):
    """The arguments "*--option[help]:argument:(a b)" that the script passes to zsh's functions."""
    must(shutil.which("zsh"), "zsh is not installed")
    script = tmp_path / "dewar.zsh"
    script.write_text(dewar("completion", "zsh"))

    def handed_over(*words):
        code = (
            "compdef() { }; _files() { }; _describe() { print -rl -- ${(P)2} }; "
            'compadd() { shift; print -rl -- "$@" }; _arguments() { print -rl -- "$@" }; '
            'source "$1"; shift; words=("$@"); CURRENT=$#; _dewar'
        )
        done = subprocess.run(["zsh", "-f", "-c", code, "zsh", script, *words],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr == "", done
        return done.stdout.splitlines()

    def offers(*words):
        if len(words) == 1:
            return {line.partition(":")[0] for line in handed_over("dewar", *words)}
        specs = handed_over("dewar", words[0], "")
        if words[-1] == "--":
            return {spec[1:].partition("[")[0] for spec in specs if spec.startswith("*--")}
        if words[1:] == ("",):
            assert "1: :_dewar_languages" in specs
            return set(re.search(r"^\tcompadd -- (.*)", script.read_text(), re.M).group(1).split())
        (spec,) = [spec for spec in specs if spec.startswith("*%s[" % words[1])]
        return set(re.search(r":\((.*)\)$", spec).group(1).split())

    return offers


@pytest.fixture
def fish_offers():
    """Parsed from the lines of the script; fish need not be installed."""
    lines = dewar("completion", "fish").splitlines()

    def rest(start):
        return [line[len(start):] for line in lines if line.startswith(start)]

    def offers(*words):
        if len(words) == 1:
            ours = rest("complete -c dewar -n __fish_use_subcommand ")
            names = [re.match(r"(?:-s \w )?-(a|l) (\S+)", line) for line in ours]
            return {("--" if name[1] == "l" else "") + name[2] for name in names}
        ours = rest("complete -c dewar -n '__fish_seen_subcommand_from %s' " % words[0])
        if words[-1] == "--":
            return {"--" + line.split()[1] for line in ours if line.startswith("-l ")}
        start = "-F " if words[1:] == ("",) else "-l %s " % words[1][2:]
        (line,) = [line for line in ours if line.startswith(start)]
        return set(re.search(r" -a '([^']*)'$", line).group(1).split())

    return offers


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_offers_exactly_the_existing_words(shell, request):
    offers = request.getfixturevalue(shell + "_offers")
    assert offers("") == {*COMMANDS, "version", "--help", "--version"}
    for command in [*COMMANDS, "version"]:
        options = options_of_help(dewar(command, "--help"))
        assert offers(command, "--") == {o for o in options if o.startswith("--")}, command
    languages = {entry["name"] for entry in json.loads(dewar("languages", "--json"))}
    assert "python" in languages
    for command in "run", "check":
        assert offers(command, "") == languages
    for command in "run", "exec", "policy", "verify":
        assert offers(command, "--level", "") == LEVELS


def test_bash_completes(complete):
    assert complete("dewar", "lang") == ["languages"]
    assert complete("dewar", "run", "pyth") == ["python"]
    assert complete("dewar", "run", "--mem") == ["--memory"]
    assert complete("dewar", "run", "--level", "cont") == ["container"]
    assert complete("dewar", "exec", "--network", "f") == ["full"]
    assert complete("dewar", "run", "--image", "a") == ["a folder"]
    assert complete("dewar", "completion", "z") == ["zsh"]
