# SPDX-License-Identifier: Apache-2.0
"""The pages that list all limits name every row of include/dewar/limits.def."""

import re

import pytest

from e2e.test_limit_table import ROOT, TABLE, argument, rows

# Page: by which name it lists a limit, and where the list is.
LISTS = {
    "docs/POLICY.md": ("key", r"the names that requests use: `([^`]*)`"),
    "docs/CONFIG.md": ("option", r"^\| `runs\.limits\.\*` \|.*\|(.*) of a request that does not set them"),
    "docs/MCP.md": ("argument", r"^\| (`timeout_s`[^|]*)\|"),
    "docs/man/dewar.1.scd": ("variable", r"^(\*DEWAR_TIMEOUT\*.*)$"),
    "docs/man/dewar-run.1.scd": ("key", r"^\*limits\*\n((?:\t.*\n)+)"),
    "docs/man/dewar-policy.1.scd": ("option", r"^(\*--timeout\* _TIME_,.*)$"),
}


def names(kind):
    for row in rows((ROOT / TABLE).read_text(encoding="utf-8")):
        yield argument(row) if kind == "argument" else getattr(row, kind)


def missing(page, text):
    kind, place = LISTS[page]
    found = re.search(place, text, re.MULTILINE)
    assert found, "%s has no list of limits" % page
    return [name for name in names(kind) if name not in re.findall(r"\w+", found.group(1))]


@pytest.mark.parametrize("page", LISTS)
def test_a_page_that_lists_the_limits_names_each(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert missing(page, text) == []
    for name in list(names(LISTS[page][0]))[1:]:
        without = re.sub(r"\b%s\b" % name, "", text)
        assert missing(page, without) == [name], "the check does not notice a missing name"
