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
PAGE = os.path.join(ROOT, "bench", "warm.md")
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


def main():
    dewar = os.environ.get("DEWAR", os.path.join(ROOT, "build", "dewar"))
    done = subprocess.run([dewar, "bench", "--json", "--svg", DRAWING, *sys.argv[1:]],
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    answer = json.loads(done.stdout)
    command = " ".join(["dewar bench", *sys.argv[1:]])
    lines = [f"Warm cells, {answer['date']}, as {answer['user']}: Linux {answer['kernel']}, "
             f"{answer['cpus']} cores, load {number(answer['load'])}. Measured by `{command}`, "
             f"kept by `make bench`.", "",
             "| measure | n | p50 ms | p95 ms | p99 ms | of bare | measured | bar | aim | met |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    lines += [line for row in answer["rows"] for line in lines_of(row)]
    lines += ["", *[line for row in answer["rows"] for line in notes_of(row)]]
    print("\n".join(lines))
    with open(PAGE, "w", encoding="utf-8") as out:
        out.write("# Warm cells\n\n![How long one run takes, by method](warm.svg)\n\n"
                  + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
