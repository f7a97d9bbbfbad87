# SPDX-License-Identifier: Apache-2.0
"""The README prints what the program prints, is short, and links to pages that exist."""

import os
import pathlib
import re
import subprocess

import pytest

from e2e.conftest import merged_env

pytestmark = [pytest.mark.once, pytest.mark.cold]

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
LINK = re.compile(r"\]\(([^)#]+)(#[^)]*)?\)")

# Texts of the README that differ between runs and hosts, and a pattern for each.
VARIES = ((r"\d+\.\d+ (?=ms|MB)", r"\d+(\.\d+)? "),
          (r"Landlock \d+", r"(Landlock \d+|no Landlock)"),
          (r"\(cgroup[12]\)", r"\(cgroup[12]\)"))


def transcript():
    """(command, the lines that it prints) for each command of the README's console blocks."""
    commands = []
    for block in re.findall(r"^```console\n(.*?)^```$", README.read_text(encoding="utf-8"),
                            re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line)
    return [(command, "\n".join(lines).strip("\n")) for command, lines in commands]


def pattern(expected):
    """A regular expression for the text: `...` on a line of its own stands for any lines."""
    varies = re.compile("|".join("(%s)" % shown for shown, _ in VARIES))
    parts = []
    position = 0
    for match in varies.finditer(expected):
        parts.append(re.escape(expected[position:match.start()]))
        parts.append(VARIES[match.lastindex - 1][1])
        position = match.end()
    parts.append(re.escape(expected[position:]))
    return re.sub(r"(?m)(\\\n)?^%s$" % re.escape(re.escape("...")), lambda _: "(\n.*)*", "".join(parts))


def printed(output):
    return "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")


def test_the_pattern_of_a_transcript_accepts_only_what_may_vary():
    shown = "a: 10.2 ms (cgroup1)\n64 processes\n..."
    assert re.fullmatch(pattern(shown), "a: 7 ms (cgroup2)\n64 processes\nmore\nlines")
    assert not re.fullmatch(pattern(shown), "a: 7 ms (cgroup2)\n65 processes\nmore")
    assert not re.fullmatch(pattern(shown), "b: 7 ms (cgroup2)\n64 processes\nmore")
    assert not re.fullmatch(pattern("one\ntwo"), "one\ntwo\nthree")


@pytest.mark.parametrize("command, expected", transcript())
def test_each_command_of_the_readme_prints_what_the_readme_shows(dewar, command, expected):
    # An engine would add a column to the table of `dewar verify`.
    env = merged_env({"PATH": os.path.dirname(dewar) + ":" + os.environ["PATH"],
                      "DOCKER_HOST": "unix:///nonexistent/docker.sock"})
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=env, timeout=300, check=False, text=True)
    assert re.fullmatch(pattern(expected), printed(done.stdout)), (
        "README.md shows\n%s\n\nbut `%s` prints\n%s" % (expected, command, done.stdout))


def test_the_readme_has_at_most_130_lines():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 130


def pages():
    return [README, *ROOT.glob("[A-Z]*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "attacks/README.md"]


@pytest.mark.parametrize("page", sorted({str(page.relative_to(ROOT)) for page in pages()}))
def test_every_link_of_a_page_leads_to_a_file(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [match.group(1) for match in LINK.finditer(text) if "://" not in match.group(1)]
    missing = [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()]
    assert not missing
