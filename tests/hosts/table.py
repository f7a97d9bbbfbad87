#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Turn the rows that core.py wrote into the table of hosts, levels and walls.

    table.py            print it
    table.py --write    write it into docs/HOSTS.md; hosts that were not run keep their lines
    table.py --check    print where docs/HOSTS.md and the rows differ; exit with 1 if they do

Kernel versions are omitted, so that the same states give the same lines.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = ROOT / "build" / "test-logs" / "hosts"
DOC = ROOT / "docs" / "HOSTS.md"
BEGIN, END = "<!-- made by tests/hosts/table.py: begin -->", "<!-- end -->"
LEVELS = ["process", "container", "docker", "microvm"]
WALLS = ["ns", "root", "seccomp", "landlock", "caps", "network", "memory", "cpu", "pids"]
ABSENT = "not part of this version"
NO_CAPS = "0" * 16
BY = {"cgroup1": "v1", "cgroup2": "v2", "rlimit": "rl", "sampling": "sa"}
LEGEND = """\
`+` in place, and tested from inside; `.` absent and not claimed; `no` the level is unavailable. `ns` all seven namespaces,
`root` its own read-only root, `caps` no capabilities, `network` no network reachable. Limits: `v1`, `v2` enforced by that
version of cgroups, `rl` by an rlimit, `sa` by sampling every few milliseconds; in brackets: not enforced, and the result
says so."""


def mark(flag):
    return "+" if flag else "."


def limit_mark(limit):
    word = BY.get(limit["by"], limit["by"])
    return word if limit["enforced"] else "(%s)" % word


def wall_marks(entry):
    walls, limits = entry["walls"], entry["limits"]
    return {
        "ns": mark(all(walls["namespaces"].values())),
        "root": mark(walls["namespaces"]["mount"] and walls["root_read_only"]),
        "seccomp": mark(walls["seccomp"]["mode"] == 2),
        "landlock": mark(walls["landlock"]),
        "caps": mark(walls["capabilities"]["effective"] == NO_CAPS),
        "network": mark(walls["namespaces"]["net"] and walls["network"]["interfaces"] == 0),
        **{name: limit_mark(limits[name]) for name in ("memory", "cpu", "pids")},
    }


def lines_of(row):
    """{(host, user, level): cells}; with walls only if the level works and was probed."""
    lines = {}
    for level in LEVELS:
        entry = row["levels"][level]
        if ABSENT in (entry["why"] or ""):
            continue
        works = entry["state"] == "works" and entry["walls"]
        marks = wall_marks(entry) if works else {}
        lines[row["host"], row["user"], level] = (
            "works" if entry["state"] == "works" else "no", *(marks.get(w, "") for w in WALLS))
    return lines


def read_rows():
    rows = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(ROWS.glob("*.json"))]
    return [row for row in rows if "levels" in row and set(LEVELS) <= set(row["levels"])]


def read_doc():
    """The lines of the current page, in the form of lines_of()."""
    found = {}
    text = DOC.read_text(encoding="utf-8") if DOC.exists() else ""
    for line in text.partition(BEGIN)[2].partition(END)[0].splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) == 4 + len(WALLS) and cells[2] in LEVELS:
            found[tuple(cells[:3])] = tuple(cells[3:])
    return found


def show(lines):
    head = ["host", "user", "level", "", *WALLS]
    body = [head] + [[*key, *cells] for key, cells in lines.items()]
    wide = [max(len(r[i]) for r in body) for i in range(len(head))]
    text = ["| %s |" % " | ".join(c.ljust(w) for c, w in zip(r, wide)) for r in body]
    text.insert(1, "|%s|" % "|".join("-" * (w + 2) for w in wide))
    return "\n".join(text)


def reasons(rows):
    """For each cause once: the hosts, the reason and the remedy."""
    seen = {}
    for row in rows:
        for level in LEVELS:
            entry = row["levels"][level]
            if entry["state"] != "works" and ABSENT not in (entry["why"] or ""):
                key = (level, entry["why"] or "?", entry["remedy"] or "nothing that we know of")
                seen.setdefault(key, []).append("%s (%s)" % (row["host"], row["user"]))
    return "\n".join("- %s: %s\n  - why: %s\n  - fix: `%s`"
                     % (level, ", ".join(hosts), why, remedy)
                     for (level, why, remedy), hosts in seen.items())


def failures(rows):
    """The failed checks of the rows, which make them unreliable; or nothing."""
    failed = ["- %s (%s): %s" % (row["host"], row["user"], c["name"])
              for row in rows for c in row["checks"] if not c["ok"]]
    return "### What did not hold\n\n%s\n\n" % "\n".join(failed) if failed else ""


def write(rows, lines):
    text = DOC.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    made = "%s\n\n%s\n\n### What is unavailable, and why\n\nAs the last run reported it:\n\n%s\n\n%s" % (
        LEGEND, show({**read_doc(), **lines}), reasons(rows), failures(rows))
    DOC.write_text("%s%s\n%s%s%s" % (before, BEGIN, made, END, after), encoding="utf-8")


def differences(lines):
    there = read_doc()
    return ["%s: the page has %s, the run %s" % (", ".join(key), there.get(key, "no line"), cells)
            for key, cells in lines.items() if there.get(key) != cells]


def main():
    rows = read_rows()
    if not rows:
        sys.exit("table.py: no rows in %s" % ROWS)
    lines = {}
    for row in rows:
        lines.update(lines_of(row))
    if "--check" in sys.argv[1:]:
        found = differences(lines)
        print("\n".join(found) or "docs/HOSTS.md agrees with %d rows" % len(rows))
        return 1 if found else 0
    print(show(lines))
    failed = [(row, c) for row in rows for c in row["checks"] if not c["ok"]]
    for row, c in failed:
        print("FAILED %s (%s): %s: %s" % (row["host"], row["user"], c["name"], c["detail"][:200]))
    if "--write" in sys.argv[1:]:
        write(rows, lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
