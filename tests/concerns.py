#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which slow steps a change concerns, by the table in tests/concerns.

concerns.py steps           the steps, one a line, for what differs from the last landed commit
concerns.py files END...    the files that differ and whose names have one of these ends
concerns.py check           every tracked file has a row, and every row a file and known steps

The last landed commit is $DEWAR_BASE; else the first parent, if HEAD is a merge; else the nearest of
origin/main and the last tag, if HEAD is ahead of it. Without any of these, `steps` names every
step, and `files` no file: one of the steps looks at the whole tree.
"""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "concerns"


def git(*words):
    """What git prints, by lines; None if it fails."""
    done = subprocess.run(["git", "-C", ROOT, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, encoding="utf-8", check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def known_steps():
    """The slow steps, in their order, as tests/steps.sh lists them."""
    text = (ROOT / "tests" / "steps.sh").read_text(encoding="utf-8")
    return re.search(r"^slow_steps=\((.*?)\)", text, re.MULTILINE | re.DOTALL)[1].split()


def read_table():
    """[(pattern, steps)]"""
    rows = []
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            pattern, *steps = line.split()
            if not steps:
                sys.exit("%s:%d: no step for %s; write - for none" % (TABLE, number, pattern))
            rows.append((pattern, [step for step in steps if step != "-"]))
    return rows


def last_landed():
    """The commit to compare with, or None."""
    if os.environ.get("DEWAR_BASE"):
        return os.environ["DEWAR_BASE"]
    if git("rev-parse", "--verify", "-q", "HEAD^2"):
        return "HEAD^1"
    candidates = ["origin/main", *(git("describe", "--tags", "--abbrev=0") or [])]
    ahead = {}
    for name in candidates:
        count = git("rev-list", "--count", name + "..HEAD")
        if count and int(count[0]) > 0:
            ahead[name] = int(count[0])
    return min(ahead, key=ahead.get) if ahead else None


def changed_files():
    """Committed since the last landing, or not committed at all; None if that cannot be told."""
    base = last_landed()
    if base is None:
        return None
    differ = git("diff", "--name-only", "--no-renames", base)
    new = git("ls-files", "--others", "--exclude-standard")
    if differ is None or new is None:
        sys.exit("concerns.py: git cannot compare with %s; set DEWAR_BASE to a commit" % base)
    return sorted({*differ, *new})


def steps_of(files, rows):
    found = {step for file in files for pattern, steps in rows
             if fnmatch.fnmatchcase(file, pattern) for step in steps}
    return [step for step in known_steps() if step in found]


def check():
    rows, problems = read_table(), []
    tracked = git("ls-files", "--cached", "--others", "--exclude-standard")
    if tracked is None:
        sys.exit("concerns.py: not a git checkout")
    for file in tracked:
        if (ROOT / file).exists() and not any(fnmatch.fnmatchcase(file, p) for p, _ in rows):
            problems.append("no row covers %s: add one to tests/concerns" % file)
    for pattern, steps in rows:
        problems += ["%s: unknown step %s" % (pattern, step)
                     for step in steps if step not in known_steps()]
        if not any(fnmatch.fnmatchcase(file, pattern) for file in tracked):
            problems.append("%s: no file has that name; take the row out" % pattern)
    named = {step for _, steps in rows for step in steps}
    problems += ["no row leads to step %s" % step for step in known_steps() if step not in named]
    print("\n".join(problems) or "%d files are covered" % len(tracked))
    return 1 if problems else 0


def main():
    what, *ends = sys.argv[1:] or [""]
    if what == "check":
        return check()
    files = changed_files()
    if what == "steps":
        print("\n".join(known_steps() if files is None else steps_of(files, read_table())))
        return 0
    if what == "files":
        print("\n".join(file for file in files or []
                        if (ROOT / file).exists() and file.endswith(tuple(ends))))
        return 0
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
