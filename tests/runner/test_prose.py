# SPDX-License-Identifier: Apache-2.0
"""tools/check-prose.py: which wording it reports, and where."""

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


def test_the_values_of_a_profile_are_prose():
    profile = "# Nobody.\nrules:\n  - name: no-one\n    reason: It runs what nobody has seen.\n"
    assert names("packaging/policies/a.yaml", profile) == [(1, "nobody"), (4, "nobody")]
    assert names("packaging/a.yaml", profile) == [(1, "nobody")]


def test_an_exception_needs_a_reason():
    assert names("a.md", "<!-- prose: allow a quotation -->\nnobody\n") == []
    assert names("a.md", "<!-- prose: allow -->\nnobody\n") == [(1, "allow"), (2, "nobody")]


def test_a_hit_makes_the_check_fail(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("Fine.\nWake somebody.\n", encoding="utf-8")
    assert prose.main([str(page)]) == 1
    said = capsys.readouterr().out
    assert "page.md:2: somebody:" in said and "1 files, 1 hits" in said
    page.write_text("Fine.\n", encoding="utf-8")
    assert prose.main([str(page)]) == 0
