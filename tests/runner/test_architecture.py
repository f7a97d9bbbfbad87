# SPDX-License-Identifier: Apache-2.0
"""ARCHITECTURE.md names files that exist and describes every folder of the sources; CONFIG.md lists the log events."""

import fnmatch
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
SUFFIXES = (".c", ".h", ".S", ".py", ".sh", ".md", ".build", ".svg", ".yaml")
TOP = ("src", "include", "runners", "attacks", "tests", "tools", "bench", "docs", "packaging", "examples")


def files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            stdout=subprocess.PIPE, check=True)
    return [path for path in listed.stdout.decode().splitlines() if (ROOT / path).exists()]


def named(text):
    """Files and folders that the page names: in backquotes, with a suffix or below a top folder."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for word in re.findall(r"`([^`\s]+)`", text):
        if word.endswith(SUFFIXES) or word.split("/")[0] in TOP and "/" in word:
            yield word.rstrip("/")


def exists(word, tracked):
    """Returns true for a path from the root, and for a file name that occurs in any folder."""
    if any(path.startswith(word + "/") for path in tracked):
        return True
    if "/" not in word:
        return any(fnmatch.fnmatchcase(path.rpartition("/")[2], word) for path in tracked)
    return any(fnmatch.fnmatchcase(path, word) for path in tracked)


def test_what_is_missing_is_noticed():
    tracked = ["src/base/fd.c", "README.md"]
    assert exists("src/base/fd.c", tracked) and exists("fd.c", tracked) and exists("src/base", tracked)
    assert exists("src/*/fd.c", tracked)
    assert not exists("src/base/df.c", tracked) and not exists("src/bas", tracked)
    assert list(named("`src/base`, `a.c`, `--json` and `dw_run()`")) == ["src/base", "a.c"]


def test_every_file_that_the_page_names_exists():
    tracked = files()
    missing = [word for word in named(PAGE.read_text(encoding="utf-8")) if not exists(word, tracked)]
    assert not missing, "ARCHITECTURE.md names what is not in the tree"


@pytest.mark.parametrize("folder", sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir()))
def test_every_folder_of_the_sources_is_described(folder):
    text = PAGE.read_text(encoding="utf-8")
    assert re.search(r"^\| `src/%s`" % re.escape(folder), text, re.MULTILINE), (
        "the table of folders in ARCHITECTURE.md has no row for src/%s" % folder)


def logged_events():
    """The event names in the calls of dw_log(): the strings with a dot in them."""
    for path in (ROOT / "src").rglob("*.c"):
        for call in re.findall(r"\bdw_log\((DW_LOG_.*?|[^;{]*? DW_LOG_.*?)\);", path.read_text(encoding="utf-8"), re.DOTALL):
            names = re.findall(r'"([a-z]+\.[a-z_]+)"', call)
            assert names, "a log line is an event, a noun such as run.refused, not %s" % call
            yield from names


def test_every_log_event_is_described():
    page = (ROOT / "docs" / "CONFIG.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \| (?:debug|info|warning|error)", page, re.MULTILINE)
    assert sorted(set(logged_events())) == sorted(described)
