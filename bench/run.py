#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Cold starts: bare, bwrap and dewar, side by side in one run.

Every round starts each method once, in random order, so that all of them meet
the same noise; what counts are the ratios. Prints a table and keeps it, with
the machine and the date, in bench/cold-start.md.

usage: bench/run.py [--rounds N] [--keep FILE|-]
"""

import argparse
import datetime
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
HELLO = "print(1)"
NULL = os.open(os.devnull, os.O_RDWR)
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}  # the same for all


def once(argv):
    """Milliseconds from spawn to the end of argv, which must succeed."""
    actions = [(os.POSIX_SPAWN_DUP2, NULL, fd) for fd in (0, 1, 2)]
    start = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, ENV, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    ms = (time.perf_counter_ns() - start) / 1e6
    if status != 0:
        sys.exit(f"bench: {' '.join(argv)} ended with status {status}")
    return ms


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p / 100))]


def methods(true, dewar):
    """(payload, method, argv), the bare one of a payload first."""
    payloads = {
        "static true": ([true], [true]),
        "python hello": ([PYTHON, "-c", HELLO], ["python", "-c", HELLO]),
    }
    bwrap = shutil.which("bwrap")
    rows = []
    for name, (bare, for_dewar) in payloads.items():
        rows.append((name, "bare", bare))
        if bwrap:
            # The same namespaces; no seccomp, no Landlock, no limits, no proof.
            rows.append((name, "bwrap", [
                bwrap, "--unshare-all", "--unshare-user", "--die-with-parent",
                "--new-session", "--ro-bind", "/", "/", "--dev", "/dev",
                "--proc", "/proc", "--tmpfs", "/tmp", "--ro-bind", true, true,
                "--", *bare]))
        # Walls beside walls; what a record on disk costs is a row of its own.
        for level in ("none", "process", "container"):
            rows.append((name, f"dewar {level}",
                         [dewar, "run", "--no-audit", "--level", level, *for_dewar]))
        rows.append((name, "dewar container, recorded",
                     [dewar, "run", "--audit", os.path.join(os.path.dirname(true), "audit.db"),
                      *for_dewar]))
    return rows


def measure(rows, rounds):
    times = {(name, method): [] for name, method, _ in rows}
    for done in range(rounds + 1):
        order = rows[:]
        random.shuffle(order)
        for name, method, argv in order:
            ms = once(argv)
            if done > 0:  # the first round warms the caches
                times[name, method].append(ms)
        if sys.stderr.isatty():
            print(f"\r{done}/{rounds}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    return times


def table(rows, times, rounds):
    lines = ["| payload | method | p50 ms | p95 ms | n | p50 / bare | p50 / bwrap |",
             "|---|---|---|---|---|---|---|"]
    for name, method, _ in rows:
        p50 = percentile(times[name, method], 50)
        bare = percentile(times[name, "bare"], 50)
        bwrap = times.get((name, "bwrap"))
        ratio = f"{p50 / percentile(bwrap, 50):.2f}" if bwrap else "-"
        lines.append(f"| {name} | {method} | {p50:.2f} | "
                     f"{percentile(times[name, method], 95):.2f} | {rounds} | "
                     f"{p50 / bare:.2f} | {ratio} |")
    return lines


def bars(times):
    """The promises, kept or not."""
    def p50(*key):
        return percentile(times[key], 50)

    lines = []
    if ("static true", "bwrap") in times:
        ratio = p50("static true", "dewar container") / p50("static true", "bwrap")
        lines.append(f"- static true, dewar container / bwrap: {ratio:.2f} "
                     f"(bar 1.00): {'kept' if ratio <= 1 else 'MISSED'}")
    ratio = p50("python hello", "dewar container") / p50("python hello", "bare")
    lines.append(f"- python hello, dewar container / bare: {ratio:.2f} "
                 f"(bar 1.30): {'kept' if ratio <= 1.3 else 'MISSED'}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--keep", default=os.path.join(ROOT, "bench", "cold-start.md"),
                        help="where to keep the table; - for nowhere")
    args = parser.parse_args()
    dewar = os.environ.get("DEWAR", os.path.join(ROOT, "build", "dewar"))

    with tempfile.TemporaryDirectory(prefix="dewar-bench-") as folder:
        os.chmod(folder, 0o755)
        true = os.path.join(folder, "true")
        subprocess.run(["gcc", "-O2", "-static", "-o", true,
                        os.path.join(ROOT, "bench", "true.c")], check=True)
        rows = methods(true, dewar)
        times = measure(rows, args.rounds)

    user = "root" if os.geteuid() == 0 else "a plain user"
    lines = [f"Cold starts, {datetime.date.today()}, as {user}: Linux {platform.release()}, "
             f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}. "
             f"Made by `make bench`.", ""]
    lines += table(rows, times, args.rounds) + [""] + bars(times)
    print("\n".join(lines))
    if args.keep != "-":
        with open(args.keep, "w", encoding="utf-8") as out:
            out.write("# Cold starts\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
