# SPDX-License-Identifier: Apache-2.0
"""tools/check-prose.py: which wording it reports, where, and how its baseline may change."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("check_prose", ROOT / "tools" / "check-prose.py")
prose = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(prose)


def names(path, text):
    return [(line, name) for line, name, *_ in sorted(prose.hits(path, text))]


@pytest.mark.parametrize("text, name", [
    ("The thread who holds the lock.", "who"),
    ("Whoever waits is woken.", "who"),
    ("Wake somebody.", "somebody"),
    ("Nobody reads it.", "nobody"),
    ("There is none.", "is-none"),
    ("The header has it.", "has-it"),
    ("A limit of ours is reached.", "of-ours"),
    ('"x" is too much', "too-much"),
    ("do what? See dewar --help", "do-what"),
    ("Of the two, the first is right.", "opens-with-of"),
    ("What cannot be measured is left out.", "opens-with-what"),
    ("It buries its children.", "metaphor"),
])
def test_each_pattern_finds_its_wording(text, name):
    assert (1, name) in names("a.md", text + "\n")
    assert (2, name) in names("a.c", "int a;\n/* %s */\n" % text.replace('"', ""))


@pytest.mark.parametrize("text", [
    "The person who approves it.", "A user, who may be root, decides.", "It runs as user nobody.",
    "The id is `nobody`.", "None of them is open.", "What is a cell?", "where the kernel has it",
])
def test_correct_wording_is_not_reported(text):
    assert names("a.md", text + "\n") == []


def test_code_is_not_prose():
    assert names("a.c", 'int who;\nconst char *key = "who";\n') == []
    assert names("a.py", 'who = 1\nkey = "nobody"\n') == []
    assert names("a.sh", "who=1\n") == []
    assert names("a.md", "```\nwho\n```\nand `who` too\n") == []


def test_comments_and_messages_are_prose():
    assert names("a.c", 'fail("nobody listens");\n') == [(1, "nobody")]
    assert names("a.py", '"""Who waits."""\nx = 1  # nobody\n')[-1] == (2, "nobody")
    assert names("a.sh", 'x=1 # nobody\necho "nobody is here"\n') == [(1, "nobody"), (2, "nobody")]
    assert names("a.yaml", "key: nobody # nobody\n") == [(1, "nobody")]
    assert names("a.1.scd", "nobody\n") == [(1, "nobody")]


def test_an_exception_needs_a_reason():
    assert names("a.md", "<!-- prose: allow a quotation -->\nnobody\n") == []
    assert names("a.md", "<!-- prose: allow -->\nnobody\n") == [(1, "allow"), (2, "nobody")]


def test_the_baseline_must_be_exact(capsys):
    found = {"more": [(1, "who", "who", "r", "b")] * 2, "fewer": [], "same": [(1, "who", "who", "r", "b")]}
    assert prose.compare(found, {"more": 1, "fewer": 1, "same": 1}) == 2
    said = capsys.readouterr().out
    assert "more:1: who" in said and "--lower" in said and "same" not in said


def test_lowering_never_raises_a_count():
    found = {"a": [1, 2, 3], "b": [1]}
    assert prose.lowered({"a": 2, "b": 2}, found) == {"a": 2, "b": 1}


def test_a_renamed_file_takes_its_count_along():
    assert prose.lowered({"old": 2}, {"new": [1, 2]}) == {"new": 2}
    assert prose.lowered({"old": 2}, {"new": [1, 2, 3]}) == {"new": 2}
