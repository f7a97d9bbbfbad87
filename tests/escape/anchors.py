# SPDX-License-Identifier: Apache-2.0
"""Find a wall in the source by its name, and edit it.

A comment on a line of its own, directly above a statement, is an anchor:

  /* mutant: landlock */           # mutant: landlock
  if (...)                         name = value

An edit is (anchor, old, new). It applies only to the anchored statement, in
whichever file that is; `old` must occur there exactly once, and None stands for
the whole statement. White space and comments do not count when `old` is
compared, so formatting and moving the code do not lose the wall.

A statement ends at the first `;` outside of brackets, or at the `}` of its block;
the else branches of an `if` are part of it. A preprocessor directive ends with
its line, an element of an initializer with its comma. Where comments begin with
`#` the statement is one logical line; in assembler code it is one line.
"""

import os
import re

FOLDERS = ("src", "runners")
HASH = (".py", ".rb", ".R")  # languages in which a comment begins with #
SUFFIXES = (".c", ".h", ".S", ".js", *HASH)

STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
C_TOKENS = re.compile(r"(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>%s|`(?:\\.|[^`\\])*`)" % STRING,
                      re.DOTALL)
HASH_TOKENS = re.compile(r'(?P<comment>#[^\n]*)|(?P<string>"""(?:\\.|[^\\])*?"""|'
                         r"'''(?:\\.|[^\\])*?'''|%s)" % STRING, re.DOTALL)
ANCHOR = {True: re.compile(r"[ \t]*# mutant: ([a-z0-9]+(?:-[a-z0-9]+)*)[ \t]*"),
          False: re.compile(r"[ \t]*/\* mutant: ([a-z0-9]+(?:-[a-z0-9]+)*) \*/[ \t]*")}
ANY_ANCHOR = re.compile(r"(?:#|/\*|//)[ \t]*mutants?[ \t]*:")
BLANK = r"(?:\s|\\\n)"  # a directive continues after a backslash


class Trouble(Exception):
    pass


def blanks(comment):
    return re.sub(r"[^\n]", " ", comment)


class Source:
    """One file; `code` is its text without comments, `bare` also without strings.

    Both are as long as the text: blanks stand for a comment, quotation marks for a string.
    """

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.hash = path.endswith(HASH)
        tokens = HASH_TOKENS if self.hash else C_TOKENS
        self.code = tokens.sub(lambda m: m[0] if m["string"] else blanks(m[0]), text)
        self.bare = tokens.sub(lambda m: '"' * len(m[0]) if m["string"] else blanks(m[0]), text)

    def anchors(self):
        """The name of each anchor, and where the line after it begins."""
        at = 0
        for number, line in enumerate(self.text.splitlines(True), 1):
            at += len(line)
            match = ANCHOR[self.hash].fullmatch(line.rstrip("\n"))
            if match:
                yield match[1], at
            elif ANY_ANCHOR.search(line):
                raise Trouble("%s:%d: an anchor must be %s on a line of its own, not %r" % (
                    self.path, number, "# mutant: NAME" if self.hash else "/* mutant: NAME */",
                    line.strip()))

    def statement(self, at):
        """Where the statement that follows `at` begins and ends."""
        begin = at + len(self.bare[at:]) - len(self.bare[at:].lstrip())
        if self.path.endswith(".S"):
            return begin, line_end(self.bare, begin)
        if self.hash or self.bare.startswith("#", begin):
            return begin, logical_line_end(self.bare, begin, self.hash)
        return begin, statement_end(self.bare, begin)


def line_end(bare, at):
    end = bare.find("\n", at)
    return len(bare) if end < 0 else end


def logical_line_end(bare, at, in_brackets):
    """in_brackets: a newline in brackets does not end the line."""
    depth = 0
    for i in range(at, len(bare)):
        if in_brackets and bare[i] in "([{":
            depth += 1
        elif in_brackets and bare[i] in ")]}":
            depth -= 1
        elif bare[i] == "\n" and depth <= 0 and bare[i - 1] != "\\":
            return i
    return len(bare)


def next_word(bare, at):
    return re.compile(r"\s*(\w+|\S|$)").match(bare, at)[1]


def statement_end(bare, at):
    depth = ifs = 0
    element = bare[at] in "{.[" if at < len(bare) else False
    do = next_word(bare, at) == "do"
    value = False  # the braces that are open hold values, not statements
    for match in re.compile(r"\w+|[^\w\s]").finditer(bare, at):
        token, end = match[0], match.end()
        if token in "([{":
            if depth == 0 and token == "{":
                value = bare[at:match.start()].rstrip().endswith("=")
            depth += 1
            continue
        if token in ")]}":
            depth -= 1
        if depth < 0:  # the last element needs no comma
            return at + len(bare[at:match.start()].rstrip())
        if depth > 0:
            continue
        if token == "if":
            ifs += 1
        elif element and (token == "," or token == "}" and next_word(bare, end) != ","):
            return end
        elif token == ";" or token == "}" and not element and not do and not value and \
                next_word(bare, end) not in (";", ",", ".", "["):
            if ifs == 0 or next_word(bare, end) != "else":
                return end
            ifs -= 1
        elif token == "}":
            value = False
    return len(bare)


def read_sources(root):
    for top in FOLDERS:
        for folder, subfolders, names in os.walk(os.path.join(root, top)):
            subfolders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(SUFFIXES) and not os.path.islink(path):
                    with open(path, encoding="utf-8") as file:
                        yield Source(os.path.relpath(path, root), file.read())


class Tree:
    """All anchors of a tree: `places` maps each to its source and its position there."""

    def __init__(self, root):
        self.places = {}
        for source in read_sources(root):
            if "mutant" not in source.text:
                continue
            for name, at in source.anchors():
                if name in self.places:
                    raise Trouble("anchor %s is defined twice: in %s and in %s" % (
                        name, self.places[name][0].path, source.path))
                self.places[name] = source, at

    def find(self, mutant, edit):
        """The source that an edit changes, and where the changed text begins and ends."""
        anchor, old, new = edit
        title = "mutant %s, anchor %s" % (mutant["name"], anchor)
        if anchor not in self.places:
            raise Trouble("%s: no source has this anchor" % title)
        source, at = self.places[anchor]
        begin, end = source.statement(at)
        if begin == end:
            raise Trouble("%s: no statement follows in %s" % (title, source.path))
        if old is not None and not old.strip():
            raise Trouble("%s: the text to replace is empty" % title)
        if old is not None:
            found = list(pattern(old).finditer(source.code, begin, end))
            if len(found) != 1:
                raise Trouble("%s: the statement in %s has %r %d times, not once:\n%s" % (
                    title, source.path, old, len(found), source.text[begin:end]))
            begin, end = found[0].span()
        if source.text[begin:end].split() == new.split():
            raise Trouble("%s: the edit changes nothing" % title)
        return source, begin, end

    def apply(self, mutant):
        """The text of each file that the mutant changes, by its path."""
        changes = {}
        for edit in mutant["edits"]:
            source, begin, end = self.find(mutant, edit)
            changes.setdefault(source.path, []).append((begin, end, edit, source))
        if not changes:
            raise Trouble("mutant %s has no edits" % mutant["name"])
        return {path: replace(mutant, some) for path, some in changes.items()}

    def check(self, mutants):
        """Check that every edit applies and every anchor is used."""
        for mutant in mutants:
            self.apply(mutant)
        used = {edit[0] for mutant in mutants for edit in mutant["edits"]}
        for name, (source, _) in sorted(self.places.items()):
            if name not in used:
                raise Trouble("anchor %s in %s is used by no mutant" % (name, source.path))


def pattern(old):
    """Matches `old` with any line breaks, and never a part of a longer name."""
    tokens = re.findall(r"\w+|[^\w\s]", old)
    text = r"(?<!\w)" if re.match(r"\w", tokens[0]) else ""
    for before, token in zip([""] + tokens, tokens):
        words = re.match(r"\w", before) and re.match(r"\w", token)
        text += (BLANK + ("+" if words else "*") if before else "") + re.escape(token)
    return re.compile(text + (r"(?!\w)" if re.match(r"\w", tokens[-1]) else ""))


def replace(mutant, changes):
    """changes: all changes of one file, each (begin, end, edit, source)."""
    changes = sorted(changes, key=lambda change: change[:2])
    text, at = "", 0
    for begin, end, (anchor, _, new), source in changes:
        if begin < at:
            raise Trouble("mutant %s, anchor %s: the edit overlaps another one" % (
                mutant["name"], anchor))
        text += source.text[at:begin] + new
        at = end
    return text + changes[-1][3].text[at:]
