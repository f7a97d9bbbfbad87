#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Find wording that a reader stumbles over, in comments, messages and pages.

usage: check-prose.py [FILE...]      without files: everything that git tracks, or would

PATTERNS lists each wording with its reason and a better form. A line that contains
`prose: allow REASON`, and the line below it, are not checked: for quotations, and where the wording
is correct.
"""

import io
import os
import re
import subprocess
import sys
import tokenize

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ALLOW = re.compile(r"prose: allow(?P<reason>[^\n]*)")

# After these words `who` means a person, and is correct.
PERSONS = ("person", "people", "user", "users", "human", "operator", "approver", "reader", "maintainer",
           "engineer", "author", "attacker")
NO_PERSON = "".join("(?<!%s )(?<!%s, )" % (word, word) for word in PERSONS)
# The user `nobody` is a name.
NOBODY_USER = re.compile(r"`nobody`|[\"'*]nobody[\"'*]|nobody \(65534\)|nobody:no|"
                         r"(?:root|user|uid|gid)[ :]nobody")

# Names of attacks and files, such as signal-everybody.
NAME = re.compile(r"\b\w+(?:-\w+)+\b")

# (name, regular expression, reason, what to write instead)
PATTERNS = (
    ("who", NO_PERSON + r"\bwho(?:ever|m|mever)?\b(?! (?:is|are) (?:trusted|you)\b)",
     "a program, thread or kernel is not a person",
     "name the actor: the client, the caller, the thread, the process that ..."),
    ("somebody", r"\b(?:somebody|someone|anybody|anyone|everybody|everyone)(?:'s)?\b",
     "the reader has to guess which program or person acts",
     "name the actor: another process, any user, every cell"),
    ("nobody", r"\b(?:nobody|no one)(?:'s)?\b",
     "the reader has to guess which program or person does not act",
     "no process, no client, no thread; or say it in the passive"),
    ("is-none", r"\b(?:is|are|was|were) none\b(?! of\b)(?! other\b)",
     "not idiomatic", "there is no Y; X is not one"),
    ("has-it",
     r"(?<!kernel )(?<!host )\bha(?:s|ve) it\b(?! (?:done|run|open|been|made|read|sent)\b)",
     "says neither what is defined nor where", "X defines, X describes, X contains"),
    ("of-ours", r"\bof (?:ours|mine|theirs|yours)\b|\bof its(?= ?[,.;:)])",
     "not idiomatic technical English", "our X; X's own Y; the daemon's Y"),
    ("too-much", r"\bis too much\b", "does not say what is wrong",
     "unexpected argument \"x\"; exceeds LIMIT"),
    ("do-what", r"\bdo what\?", "a question is not an error message",
     "no command given; see `dewar --help`"),
    ("opens-with-what",
     r"(?:^[ \t]*(?:- )?|[.:;] )What (?!(?:is|are|does|do|did|was|were|happens|it|they|to|a|the|you|each|"
     r"else|one|this)\b)[^?.\n]*(?:\n[^?.\n]*)?\b(?:is|are|has|goes|comes|does|was)\b[^?]*?\.",
     "a clause as subject is hard to read", "subject, verb, object: name the thing"),
    ("opens-with-who", r"(?:^[ \t]*(?:- )?|[.:;] )Who(?:ever)? (?!is\b|are\b|may\b)[a-z]+",
     "a clause as subject is hard to read", "\"A client that ...\", \"A process that ...\""),
    ("opens-with-of", r"(?:^[ \t]*(?:- )?|\. )Of (?:what|all|those|these|the|each|a|an|one)\b[^.\n]*,",
     "inverted order", "start with the subject"),
    ("no-way", r"\bno way \"", "not idiomatic", "must be a, b or c, not \"x\""),
    ("metaphor", r"\b(?:gatehouse|buries|buried|bury|undertaker|the letter|shelf|shelves|mighty|"
     r"made to measure|in earnest)\b",
     "a private metaphor", "the field's term: see docs/GLOSSARY.md"),
)


COMPILED = [(name, re.compile(text, re.MULTILINE | (0 if name.startswith("opens") else re.IGNORECASE)),
             reason, better) for name, text, reason, better in PATTERNS]

# Files that quote others, are generated, or are data.
SKIPPED = re.compile(r"^(?:tests/fuzz/(?:corpus|regression)/|tests/policy/corpus/|tools/grammars/|"
                     r"tools/check-prose\.py$|tests/runner/test_prose\.py$|"
                     r"docs/GLOSSARY\.md$|LICENSE$|NOTICE$|.*package-lock\.json$)")

C_TEXT = re.compile(r"/\*(?P<block>.*?)\*/|//(?P<line>[^\n]*)|\"(?P<string>(?:\\.|[^\"\\\n])*)\"|"
                    r"'(?:\\.|[^'\\\n])+'", re.DOTALL)
HASH = re.compile(r"(?:^|(?<=\s))#(?P<comment>[^\n]*)", re.MULTILINE)
SHELL_STRING = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'([^'\n]*)'")


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def keep(text, spans):
    """The text with all but the spans blanked out, so that lines and columns stay."""
    out = []
    position = 0
    for start, end in sorted(spans):
        if start < position:
            continue
        out += [blank(text[position:start]), text[start:end]]
        position = end
    return "".join(out + [blank(text[position:])])


def is_prose(string):
    """Returns true if a string has more than one word: others are keys, names and paths."""
    return " " in string.strip()


def c_prose(text):
    spans = [match.span(group) for match in C_TEXT.finditer(text)
             for group in ("block", "line", "string") if match.group(group) is not None
             and (group != "string" or is_prose(match.group(group)))]
    kept = keep(text, spans)
    return re.sub(r"(?m)^([ \t]*)\*", r"\1 ", kept)


def python_prose(text):
    starts = [0]
    for line in text.splitlines(True):
        starts.append(starts[-1] + len(line))
    spans = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING
                                                  and is_prose(token.string)):
                spans.append((starts[token.start[0] - 1] + token.start[1],
                              starts[token.end[0] - 1] + token.end[1]))
    except (tokenize.TokenError, SyntaxError):
        return hash_prose(text)
    return re.sub(r"(?m)^([ \t]*)#", r"\1 ", keep(text, spans))


def hash_prose(text):
    return keep(text, [match.span("comment") for match in HASH.finditer(text)])


def shell_prose(text):
    spans = [match.span("comment") for match in HASH.finditer(text)]
    # Strings matter where a message is printed.
    for line in re.finditer(r"^.*\b(?:echo|printf|say|skip|die|fail)\b.*$", text, re.MULTILINE):
        spans += [(line.start() + match.start(), line.start() + match.end())
                  for match in SHELL_STRING.finditer(line.group())]
    return keep(text, spans)


def page_prose(text):
    """A page without its blocks of code and the code in its lines."""
    text = re.sub(r"^```.*?^```$", lambda match: blank(match.group()), text,
                  flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", lambda match: "`" + blank(match.group()[2:]) + "`", text)


def policy_prose(text):
    """A profile: users see its reasons, and `dewar policy show` prints the whole file."""
    return re.sub(r"(?m)^([ \t]*)#", r"\1 ", text)


# Users read these as a whole, not only their comments.
POLICIES = re.compile(r"^packaging/policies/[^/]*\.yaml$")

READERS = {".c": c_prose, ".h": c_prose, ".js": c_prose, ".py": python_prose, ".sh": shell_prose,
           ".rb": hash_prose, ".pl": hash_prose, ".md": page_prose, ".scd": lambda text: text,
           ".yaml": hash_prose, ".yml": hash_prose, ".ini": hash_prose, ".build": hash_prose}
BY_NAME = {"Makefile": lambda text: text, "accepted-skips": lambda text: text, "concerns": hash_prose,
           "run": shell_prose}


def hits(path, text):
    """(line, name, words, reason, better) for each hit, in order."""
    reader = READERS.get(os.path.splitext(path)[1]) or BY_NAME.get(os.path.basename(path))
    if not reader or SKIPPED.match(path):
        return
    prose = (policy_prose if POLICIES.match(path) else reader)(text)
    for names in (NOBODY_USER, NAME):
        prose = names.sub(lambda match: blank(match.group()), prose)
    allowed = set()
    for number, line in enumerate(text.split("\n"), 1):
        match = ALLOW.search(line)
        if match and not re.search(r"\w{3}", match.group("reason")):
            yield (number, "allow", line.strip(), "an exception without a reason",
                   "prose: allow REASON")
        elif match:
            allowed |= {number, number + 1}
    for name, pattern, reason, better in COMPILED:
        for match in pattern.finditer(prose):
            # A clause may begin at the end of a sentence: the hit is where its words are.
            start = match.start() + len(match.group()) - len(match.group().lstrip(".:; \n"))
            line = prose.count("\n", 0, start) + 1
            if line not in allowed:
                words = " ".join(match.group().lstrip(".:; ").split())
                yield line, name, words, reason, better


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            stdout=subprocess.PIPE, check=True)
    return sorted(path for path in listed.stdout.decode().split("\0") if path and os.path.isfile(path))


def show(path, found):
    for line, name, words, reason, better in sorted(found):
        print('%s:%d: %s: "%s": %s; write: %s' % (path, line, name, words[:70], reason, better))


def find(paths):
    found = {}
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                found[path] = list(hits(path, file.read()))
        except UnicodeDecodeError:
            pass
    return found


def main(argv):
    if argv and argv[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    paths = [os.path.relpath(path, ROOT) for path in argv]
    os.chdir(ROOT)
    found = find(paths or tracked())
    for path, hits_of_path in found.items():
        show(path, hits_of_path)
    count = sum(map(len, found.values()))
    print("%d files, %d hits" % (len(found), count))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
