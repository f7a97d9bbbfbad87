#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Check the rules that no compiler checks.

Which folder may include which, a folder's private header (NAME_own.h) only from that folder, every
quoted include with its folder, own header first, and one SPDX line in every file of the project.
"""

import os
import re
import sys

# Folders in the order of the source layout: each may include those that its row names, all of
# them above it, and always itself and the public headers, "dewar/".
MAY_INCLUDE = {
    "include/dewar": (),
    "src/base": (),
    "src/request": ("base",),
    "src/languages": ("base", "request"),
    "src/analysis": ("base",),
    "src/policy": ("base", "request", "analysis"),
    "src/audit": ("base", "request"),
    "src/approvals": ("base", "request", "policy", "audit"),
    "src/keys": ("base", "request"),
    "src/cgroup": ("base",),
    "src/wire": ("base",),
    "src/init": ("base", "wire"),
    "src/launch": ("base", "wire", "init"),
    "src/guest": ("base", "wire", "init"),
    "src/levels": ("base", "request", "languages", "cgroup", "wire"),
    "src/docker": ("base", "wire", "cgroup"),
    "src/warm": ("base", "request", "languages", "wire", "levels"),
    "src/doctor": ("base", "request", "languages", "cgroup", "wire", "levels", "warm"),
    "src/run": ("base", "request", "languages", "analysis", "policy", "approvals", "audit", "cgroup",
                "wire", "levels", "warm", "doctor"),
    "src/daemon": ("base", "request", "languages", "policy", "approvals", "audit", "keys", "doctor",
                   "run"),
    "src/http": ("base", "request", "policy", "approvals", "audit", "keys", "run", "daemon"),
    "src/mcp": ("base", "request", "languages", "approvals", "audit", "keys", "run", "daemon", "http"),
    "src/cli": ("base", "request", "languages", "analysis", "policy", "approvals", "audit", "keys",
                "doctor", "run"),
    "src/serve": ("base", "policy", "approvals", "audit", "keys", "run", "daemon", "http", "mcp",
                  "cli"),
    "src/verify": ("base",),
    "src/helpers": ("base", "cgroup", "approvals", "levels", "wire"),
    "runners": ("wire", "runners"),
    "attacks": (),
    **{"attacks/" + family: ("attacks",) for family in
       ("file-system", "process", "kernel", "network", "resources", "cross-cell", "identity",
        "output")},
    "bench": ("base", "cli"),  # of cli, only print.h
    "examples": (),
    "tools": ("base", "wire", "init"),
    "tools/grammars": (),
    "tests/unit": None,  # tests look behind every wall
    "tests/fuzz": None,
    "tests/escape": (),
    "tests/fakes": None,
    "tests/mcp": None,
}

# Made by the build, at the top of its folder.
GENERATED = {"seccomp_filter.h", "seccomp_aarch64.h", "seccomp_x86_64.h",
             "attacks_table.h", "attacks_dispatch.h",
             "runners_embedded.h", "hooks_embedded.h", "openapi_embedded.h",
             "policies_embedded.h"}

SPDX = "SPDX-License-Identifier: Apache-2.0"
SPDX_SUFFIXES = (".c", ".h", ".py", ".sh", ".scd", ".build", ".ini", "Makefile",
                 "meson_options.txt")
SPDX_FILES = {".ci/run", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]*)"', re.MULTILINE)


def our_files():
    for folder, subfolders, names in os.walk("."):
        subfolders[:] = sorted(s for s in subfolders
                               if s not in (".git", "__pycache__", "node_modules")
                               and not s.startswith("build"))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name))


def check_includes(path, text):
    folder = os.path.dirname(path)
    if folder not in MAY_INCLUDE:
        yield "no rule says what %s may include: add one to %s" % (folder, sys.argv[0])
        return

    allowed = MAY_INCLUDE[folder]
    own = os.path.basename(folder)
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        name = match.group(1)
        target = os.path.dirname(name)
        if name in GENERATED:
            continue
        if not target or name.startswith("."):
            yield '%d: "%s" lacks its folder' % (line, name)
        elif allowed is not None and target not in (own, "dewar") and target not in allowed:
            yield '%d: %s may not include "%s"' % (line, folder, name)
        elif allowed is not None and target != own and name.endswith("_own.h"):
            yield '%d: "%s" is private to its folder' % (line, name)

    own_header = path[len("src/"):-len(".c")] + ".h"
    if path.startswith("src/") and path.endswith(".c") and os.path.exists("src/" + own_header):
        first = re.search(r'^#include ["<]([^">]*)', text, re.MULTILINE)
        if first and first.group(1) != own_header:
            yield '1: its own header, "%s", comes first' % own_header


def check_folders():
    """A rule for a folder that does not exist, or that names one, has been forgotten in a rename."""
    top = {os.path.basename(folder) for folder in MAY_INCLUDE}
    for folder, allowed in MAY_INCLUDE.items():
        if not os.path.isdir(folder):
            yield "1: there is a rule for %s, which does not exist" % folder
        for name in allowed or ():
            if name not in top or not (os.path.isdir("src/" + name) or os.path.isdir(name)):
                yield "1: the rule for %s names %s, which does not exist" % (folder, name)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    seen = 0
    missing = list(check_folders())
    for complaint in missing:
        print("tools/check-includes.py:%s" % complaint)
    bad = len(missing)
    for path in our_files():
        complaints = []
        is_c = path.endswith((".c", ".h"))
        if is_c or path.endswith(SPDX_SUFFIXES) or path in SPDX_FILES:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            seen += 1
            if SPDX not in "".join(text.splitlines(True)[:4]):
                complaints.append("1: no line with " + SPDX)
            if is_c:
                complaints += check_includes(path, text)
        for complaint in complaints:
            print("%s:%s" % (path, complaint))
        bad += len(complaints)
    print("%d files, %d complaints" % (seen, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
