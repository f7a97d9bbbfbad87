#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Warm cells: let `dewar bench` measure, and keep what it says.

The table goes to bench/warm.md, the drawing to bench/warm.svg.

usage: bench/warm.py [OPTIONS OF dewar bench]
"""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DRAWING = os.path.join(ROOT, "bench", "warm.svg")


def number(value, unit=""):
    """As `dewar bench` prints it."""
    if value is None:
        return "-"
    if unit == "x" and 0 < value < 0.8:
        return "1/" + number(1 / value)
    text = f"{value:.3g}" if value and abs(value) < 100 else f"{value:.0f}"
    return f"{text} {unit}".strip()


def verdict(row, check):
    if row["failed"]:
        return f"**runs failed: {row['failed']}**"
    if check["aim_met"]:
        return "aim reached"
    return "kept" if check["bar_met"] else "**missed**"


def lines_of(row):
    """One line, or one a promise."""
    if row["not_measured"]:
        return [f"| {row['title']} | | | | | | not measured | | | |"]
    front = [row["title"], row["n"]] + [number(row[key]) for key in ("p50_ms", "p95_ms", "p99_ms")]
    front.append(number(row["ratio_to_bare"], "x"))
    lines = []
    for check in row["checks"] or [None]:
        back = [""] * 4
        if check:
            unit = check["unit"]
            back = [f"{check['what']}: {number(check['value'], unit)}",
                    number(check["bar"], unit), number(check["aim"], unit), verdict(row, check)]
        lines.append("| " + " | ".join(map(str, front + back)) + " |")
        front = [""] * len(front)
    return lines


def notes_of(row):
    runs = row["runs"]
    parts = [row["not_measured"] and "not measured: " + row["not_measured"], row["note"],
             any(runs.values()) and f"{runs['standby']} runs on standby, {runs['forked']} forked, "
                                    f"{runs['cold']} cold"]
    text = "; ".join(part for part in parts if part)
    return [f"- {row['title']}: {text}."] if text else []


def measure(argv):
    """What `dewar bench` says, with these options."""
    dewar = os.environ.get("DEWAR", os.path.join(ROOT, "build", "dewar"))
    done = subprocess.run([dewar, "bench", "--json", *argv], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def keep(page, title, drawing, answer, options):
    """Print it as a table, and keep that as a page."""
    command = " ".join(["dewar bench", *options])
    lines = [f"{title}, {answer['date']}, as {answer['user']}: Linux {answer['kernel']}, "
             f"{answer['cpus']} cores, load {number(answer['load'])}. Measured by `{command}`, "
             f"kept by `make bench`.", "",
             "| measure | n | p50 ms | p95 ms | p99 ms | of bare | measured | bar | aim | met |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    lines += [line for row in answer["rows"] for line in lines_of(row)]
    lines += ["", *[line for row in answer["rows"] for line in notes_of(row)]]
    text = "\n".join(lines)
    print(text)
    with open(os.path.join(ROOT, "bench", page), "w", encoding="utf-8") as out:
        out.write(f"# {title}\n\n{drawing}{text}\n")


def main():
    answer = measure(["--svg", DRAWING, *sys.argv[1:]])
    answer["rows"] = [row for row in answer["rows"] if "docker" not in row["name"]]  # docker.py
    keep("warm.md", "Warm cells", "![How long one run takes, by method](warm.svg)\n\n", answer,
         sys.argv[1:])


if __name__ == "__main__":
    main()
