# SPDX-License-Identifier: Apache-2.0
"""Every mutant finds its wall in the source, wherever the wall has been moved."""

import os

import pytest

from escape.anchors import Source, Tree, Trouble
from escape.mutants import DOCKER_MUTANTS, MUTANTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALL = MUTANTS + DOCKER_MUTANTS

WALL = """\
int build(void)
{
	first();
	/* mutant: wall */
	if (raise_wall(a, b) < 0)
		return -1;
	return 0;
}
"""


@pytest.fixture(scope="module", name="ours")
def fixture_ours():
    return Tree(ROOT)


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m["name"])
def test_every_edit_applies(ours, mutant):
    for path, text in ours.apply(mutant).items():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            assert file.read() != text


def test_every_anchor_is_used(ours):
    ours.check(ALL)


def test_every_mutant_has_its_own_name():
    assert len({m["name"] for m in ALL}) == len(ALL)


# ---- how an anchor is found ----

@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    def make(**files):
        """files: the text of each, by its path; __ stands for a slash, the last _ for a dot."""
        for name, text in files.items():
            stem, suffix = name.replace("__", "/").rsplit("_", 1)
            path = tmp_path / (stem + "." + suffix)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Tree(tmp_path)
    return make


def mutant(*edits):
    return {"name": "no-wall", "edits": list(edits)}


def only(texts):
    (text,) = texts.values()
    return text


def test_an_anchor_is_found_in_any_file(tree, tmp_path):
    edit = mutant(("wall", "raise_wall(a, b)", "0"))
    before = tree(src__launch__main_c=WALL).apply(edit)
    (tmp_path / "src" / "launch" / "main.c").unlink()
    after = tree(runners__deep__moved_c=WALL).apply(edit)
    assert list(before) == ["src/launch/main.c"]
    assert list(after) == ["runners/deep/moved.c"]
    assert only(before) == only(after) == WALL.replace("raise_wall(a, b)", "0")


@pytest.mark.parametrize("wrapped", [
    "\tif (raise_wall(a,\n\t               b) < 0)\n",
    "\tif (raise_wall(\n\t\ta, b) < 0)\n",
    "\tif (raise_wall /* the last */ (a, /* and */\n\t b) < 0)\n",
])
def test_a_wrapped_statement_is_found(tree, wrapped):
    text = WALL.replace("\tif (raise_wall(a, b) < 0)\n", wrapped)
    made = only(tree(src__a_c=text).apply(mutant(("wall", "raise_wall(a, b)", "0"))))
    assert "if (0 < 0)\n\t\treturn -1;" in made


def test_a_directive_is_wrapped_with_backslashes(tree):
    text = "/* mutant: flags */\n#define FLAGS   \\\n\t(ONE |  \\\n\t TWO)\nint x;\n"
    made = only(tree(src__a_c=text).apply(mutant(("flags", "ONE | TWO", "TWO"))))
    assert made == "/* mutant: flags */\n#define FLAGS   \\\n\t(TWO)\nint x;\n"


def test_the_whole_statement_is_replaced(tree):
    made = only(tree(src__a_c=WALL).apply(mutant(("wall", None, "second();"))))
    assert made == WALL.replace("if (raise_wall(a, b) < 0)\n\t\treturn -1;", "second();")


def test_several_edits_of_one_file(tree):
    text = WALL + WALL.replace("mutant: wall", "mutant: other")
    made = only(tree(src__a_c=text).apply(mutant(
        ("other", "raise_wall", "third"), ("wall", "(a, b)", "()"), ("wall", "-1", "0"))))
    assert made == (WALL.replace("(a, b)", "()").replace("-1", "0") +
                    WALL.replace("mutant: wall", "mutant: other").replace("raise_wall", "third"))


# ---- where a statement ends ----

def statement(text, name="a.c"):
    """The statement below the one anchor of a text."""
    source = Source(name, text)
    ((_, at),) = source.anchors()
    begin, end = source.statement(at)
    return source.text[begin:end]


@pytest.mark.parametrize("text", [
    "a = b;",
    "for (i = 0; i < n; i++)\n\tx(i);",
    "for (;;) {\n\tx();\n\ty();\n}",
    "if (a)\n\tx();\nelse if (b)\n\ty();\nelse\n\tz();",
    "if (a) {\n\tx();\n} else if (b) {\n\ty();\n} else {\n\tz();\n}",
    "if (a)\n\tif (b)\n\t\tx();\n\telse\n\t\ty();\nelse\n\tz();",
    "for (i = 0; i < n; i++)\n\tif (a)\n\t\tx();\n\telse\n\t\ty();",
    "if (a) {\n\tif (b)\n\t\tx();\n}\n/* why */\nelse {\n\ty();\n}",
    "else if (a)\n\tx();\nelse\n\ty();",
    "do {\n\tx();\n} while (a);",
    "switch (a) {\ncase 1:\n\tx();\n\tbreak;\n}",
    "struct s a = {\n\t.b = {1, 2},\n\t.c = 3,\n};",
    "a = (struct s){0};",
    "struct s {\n\tint a;\n};",
    "static int f(int a)\n{\n\tx(a);\n\treturn 0;\n}",
    'x("a; } b", \';\', "\\"; {", \'\\\'\', \'{\');',
    "x(a, /* not; here } */ b);",
    "x(a, // not; here }\n  b);",
])
def test_the_end_of_a_statement_is_found(text):
    assert statement("/* mutant: wall */\n%s\nnext();\n" % text) == text


def test_a_comment_below_the_anchor_is_skipped():
    assert statement("/* mutant: wall */\n/* why; */\nx();\nnext();\n") == "x();"


def test_an_else_of_the_statement_around_it_is_left_alone():
    assert statement("if (a)\n\t/* mutant: wall */\n\tx();\nelse\n\ty();\n") == "x();"


@pytest.mark.parametrize("rows", ['\t{"a;", {1}},\n\t{"b", {2}},\n', '\t{"a;", {1}},\n',
                                  '\t{"a;", {1}}, {"b", {2}}'])
def test_a_row_of_a_table_ends_with_its_comma(rows):
    assert statement("static x t[] = {\n\t/* mutant: wall */\n%s};\n" % rows) == '{"a;", {1}},'


def test_the_last_element_needs_no_comma():
    assert statement("x t = {\n\t/* mutant: wall */\n\t.a = f(1, 2) | 3\n};\n") == \
        ".a = f(1, 2) | 3"
    assert statement("x t = {\n\t/* mutant: wall */\n\t{1}\n};\n") == "{1}"


def test_a_directive_ends_with_its_line():
    assert statement("/* mutant: wall */\n#define A (1; \\\n\t2)\n#define B\n") == \
        "#define A (1; \\\n\t2)"


@pytest.mark.parametrize("text", [
    "x = 1; y = 2",
    "x = f(1,  # not ) here\n      2)",
    "x = 1 + \\\n    2",
    'x = """a\nb"""',
    "x = ['(', \"#\",\n     3]",
    "if x:",
])
def test_a_statement_of_python_is_one_logical_line(text):
    assert statement("    # mutant: wall\n    %s\n    next()\n" % text, "a.py") == text


def test_anchors_work_in_other_languages():
    assert statement("/* mutant: wall */\nx(`a;\n}`, () => { y(); });\nz();\n", "a.js") == \
        "x(`a;\n}`, () => { y(); });"
    assert statement("# mutant: wall\nx <- c(1,\n 2)\ny\n", "a.R") == "x <- c(1,\n 2)"
    assert statement("/* mutant: wall */\n\tsyscall\n\tret\n", "a.S") == "syscall"


# ---- what is refused ----

def test_a_missing_anchor_is_refused(tree):
    with pytest.raises(Trouble, match="mutant no-wall, anchor gone: no source has this anchor"):
        tree(src__a_c=WALL).apply(mutant(("gone", None, "")))


def test_an_anchor_that_is_defined_twice_is_refused(tree):
    with pytest.raises(Trouble, match="anchor wall is defined twice: in src/a.c and in src/b.c"):
        tree(src__a_c=WALL, src__b_c=WALL)


def test_an_anchor_that_no_mutant_uses_is_refused(tree):
    with pytest.raises(Trouble, match="anchor other in src/a.c is used by no mutant"):
        tree(src__a_c=WALL + "/* mutant: other */\nint x;\n").check(
            [mutant(("wall", None, ""))])


@pytest.mark.parametrize("line", ["\tx(); /* mutant: wall */", "/* mutant: Wall */",
                                  "/* mutant: a wall */", "// mutant: wall", "/*mutant: wall*/"])
def test_a_malformed_anchor_is_refused(tree, line):
    with pytest.raises(Trouble, match="src/a.c:1: an anchor must be"):
        tree(src__a_c=line + "\nint x;\n")


@pytest.mark.parametrize("old,times", [("raise_walls", 0), ("raise", 0), ("first()", 0), ("1", 1),
                                       ("b", 1), ("return 0", 0), ("r", 0), ("wall", 0)])
def test_old_text_must_be_whole_words_of_the_statement(tree, old, times):
    edit = mutant(("wall", old, "9"))
    if times == 1:
        assert tree(src__a_c=WALL).apply(edit)
        return
    with pytest.raises(Trouble, match="mutant no-wall, anchor wall: .* %d times" % times):
        tree(src__a_c=WALL).apply(edit)


def test_old_text_that_occurs_twice_is_refused(tree):
    with pytest.raises(Trouble, match="anchor wall: .*'a' 2 times, not once"):
        tree(src__a_c="/* mutant: wall */\nx(a, a); /* a */\n").apply(mutant(("wall", "a", "b")))


def test_old_text_in_a_comment_does_not_count(tree):
    made = only(tree(src__a_c="/* mutant: wall */\nx(/* a */ a);\n").apply(
        mutant(("wall", "a", "b"))))
    assert made.endswith("x(/* a */ b);\n")


def test_an_edit_that_changes_nothing_is_refused(tree):
    with pytest.raises(Trouble, match="mutant no-wall, anchor wall: the edit changes nothing"):
        tree(src__a_c=WALL).apply(mutant(("wall", "a, b", "a,  b")))


def test_overlapping_edits_are_refused(tree):
    with pytest.raises(Trouble, match="mutant no-wall, anchor wall: the edit overlaps another"):
        tree(src__a_c=WALL).apply(mutant(("wall", "a, b", "a"), ("wall", None, "")))


def test_empty_old_text_is_refused(tree):
    with pytest.raises(Trouble, match="mutant no-wall, anchor wall: the text to replace is empty"):
        tree(src__a_c=WALL).apply(mutant(("wall", " ", "x")))


def test_a_mutant_without_edits_is_refused(tree):
    with pytest.raises(Trouble, match="mutant no-wall has no edits"):
        tree(src__a_c=WALL).apply(mutant())


def test_an_anchor_without_a_statement_is_refused(tree):
    with pytest.raises(Trouble, match="anchor wall: no statement follows in src/a.c"):
        tree(src__a_c="int x;\n/* mutant: wall */\n").apply(mutant(("wall", None, "")))
