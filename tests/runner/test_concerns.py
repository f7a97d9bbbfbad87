# SPDX-License-Identifier: Apache-2.0
"""Which slow steps CI runs: what a change concerns, and everything if that cannot be told."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = "slow_steps=(alpha beta\n\tgamma)\n"
TABLE = "src/* alpha\nsrc/deep/* beta\ntests/* gamma\n*.md -\n"


@pytest.fixture
def tree(tmp_path):
    """tree(*words): git in a checkout with one commit, a table, and tests/concerns.py."""

    def git(*words):
        return subprocess.run(["git", "-C", tmp_path, "-c", "user.name=t", "-c", "user.email=t@t",
                               *words], check=True, capture_output=True, encoding="utf-8").stdout

    git("init", "-q", "-b", "main")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "steps.sh").write_text(STEPS)
    (tmp_path / "tests" / "concerns").write_text(TABLE)
    shutil.copy(ROOT / "tests" / "concerns.py", tmp_path / "tests")
    git.path = tmp_path
    write(git, "src/a.c", "src/deep/b.c", "README.md")
    git("add", "-A")
    git("commit", "-qm", "first")
    return git


def write(git, *names, text="x"):
    for name in names:
        (git.path / name).parent.mkdir(parents=True, exist_ok=True)
        (git.path / name).write_text(text)


def concerns(git, *words, **env):
    done = subprocess.run([sys.executable, git.path / "tests" / "concerns.py", *words], check=False,
                          stdout=subprocess.PIPE, encoding="utf-8", env={"PATH": "/usr/bin", **env})
    return done.returncode, done.stdout.split()


def test_without_anything_to_compare_with_it_is_every_step(tree):
    assert concerns(tree, "steps") == (0, ["alpha", "beta", "gamma"])
    assert concerns(tree, "files", ".c") == (0, [])


@pytest.mark.parametrize("changed, more", [("README.md", []), ("src/a.c", ["hosts"])])
def test_ci_runs_the_default_tier_and_what_is_concerned(tree, changed, more):
    for name in ("run.sh", "steps.sh"):
        shutil.copy(ROOT / "tests" / name, tree.path / "tests")
    write(tree, "tests/concerns", text="src/* hosts\ntests/* -\n*.md -\n")
    tree("add", "-A")
    tree("commit", "-qm", "second")
    base = tree("rev-parse", "HEAD").strip()
    write(tree, changed, text="changed")

    def listed(*words):
        return subprocess.run(["bash", tree.path / "tests" / "run.sh", *words, "--list"], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8",
                              env={"PATH": "/usr/bin:/bin", "DEWAR_BASE": base}).stdout.split()

    assert listed()[0] == "checks" and "hosts" not in listed()
    assert listed("--changed") == listed() + more
    assert listed("--all")[:len(listed())] == listed() and "hosts" in listed("--all")


def test_a_merge_is_compared_with_its_first_parent(tree):
    tree("checkout", "-qb", "side")
    write(tree, "src/deep/b.c", text="changed")
    tree("commit", "-qam", "side")
    tree("checkout", "-q", "main")
    tree("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert concerns(tree, "steps") == (0, ["alpha", "beta"])
    assert concerns(tree, "files", ".c", ".h") == (0, ["src/deep/b.c"])


@pytest.mark.parametrize("how", ["origin", "tag", "DEWAR_BASE", "not committed"])
def test_the_rest_is_compared_with_what_landed_last(tree, how):
    env = {}
    if how in ("origin", "not committed"):
        tree("update-ref", "refs/remotes/origin/main", "HEAD")
    elif how == "tag":
        tree("tag", "-a", "-m", "one", "v1")
    else:
        env["DEWAR_BASE"] = tree("rev-parse", "HEAD").strip()
    write(tree, "tests/new.py", "more.md")
    if how == "not committed":
        tree("commit", "-q", "--allow-empty", "-m", "second")
    else:
        tree("add", "-A")
        tree("commit", "-qm", "second")
    assert concerns(tree, "steps", **env) == (0, ["gamma"])


def test_pages_alone_concern_no_slow_step(tree):
    tree("update-ref", "refs/remotes/origin/main", "HEAD")
    write(tree, "README.md", text="changed")
    tree("commit", "-qam", "second")
    assert concerns(tree, "steps") == (0, [])


@pytest.mark.parametrize("change, words", [
    (lambda tree: write(tree, "lib/new.c"), ["lib/new.c"]),
    (lambda tree: write(tree, "tests/concerns", text=TABLE + "gone/* alpha\n"), ["gone/*"]),
    (lambda tree: write(tree, "tests/concerns", text=TABLE + "src/* delta\n"), ["delta"]),
    (lambda tree: write(tree, "tests/concerns", text=TABLE.replace(" beta", " -")), ["beta"]),
])
def test_a_hole_in_the_table_is_a_failure(tree, change, words):
    assert concerns(tree, "check")[0] == 0
    change(tree)
    status, said = concerns(tree, "check")
    assert status == 1 and any(word in text for word in words for text in said), said
