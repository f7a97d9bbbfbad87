# SPDX-License-Identifier: Apache-2.0
"""Only src/levels knows the levels by name: all other code asks what a level guarantees."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTANCE = re.compile(r"\bextern const struct dw_level (dw_level_(\w+));")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

# Literals that are data, by file; the reason is for the reader.
EXCEPTIONS = {
    ("include/dewar/request.h", '"container"'): "DW_LEVEL_DEFAULT, which all other files use",
    ("include/dewar/pool.h", '"docker"'): "DW_POOL_DOCKER, the name of a pool's containers",
    ("src/daemon/config.c", '"docker"'): "the key of the configuration, and a default of runs.levels",
    ("src/cli/bench.c", '"docker"'): "a row that dewar-bench measures",
    ("src/verify/verify_own.h", '"none"'): "DW_AT_NONE, where attack files want their control",
    ("src/request/request_json.c", '"none"'): "the network",
    ("src/policy/when.c", '"none"'): "the network",
    ("src/audit/describe.c", '"none"'): "the network",
    ("src/analysis/kinds.h", '"none"'): "a node of a grammar",
}


def levels():
    found = INSTANCE.findall((ROOT / "src/levels/level.h").read_text(encoding="utf-8"))
    assert [name for _, name in found] == ["none", "process", "container", "docker", "microvm"]
    return found


def mentions(text):
    """The instances of levels that code refers to, and string literals that are a level's name."""
    text = COMMENT.sub("", text)
    for instance, name in levels():
        yield from re.findall(r"\b%s\b" % instance, text)
        yield from re.findall(r'"(?:level )?%s"' % name, text)


def sources():
    for top in ("include", "src", "runners"):
        for path in sorted((ROOT / top).rglob("*.[ch]")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("src/levels/"):
                yield name, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("code, mentioned", [
    ("if (level == &dw_level_process)", ["dw_level_process"]),
    ("dw_level_docker.destroy(cell);", ["dw_level_docker"]),
    ('strcmp(level, "container") != 0', ['"container"']),
    ('strcmp(f->area, "level container") == 0', ['"level container"']),
    ('#define WARM_LEVEL "container" /* not "docker" */', ['"container"']),
    ('dw_level_find(name, len); "level container has one"; "containers"', []),
])
def test_a_mention_is_noticed(code, mentioned):
    assert list(mentions(code)) == mentioned


def test_no_code_outside_the_levels_names_one():
    found = {(name, mention) for name, text in sources() for mention in mentions(text)}
    assert sorted(found - set(EXCEPTIONS)) == [], (
        "ask for a guarantee (DW_G_* in dewar/dewar.h) instead; if the name is data, give the reason in "
        "EXCEPTIONS")


def test_no_exception_is_out_of_date():
    found = {(name, mention) for name, text in sources() for mention in mentions(text)}
    assert sorted(set(EXCEPTIONS) - found) == []
