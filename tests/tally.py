#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Count tests.

tally.py add RESULTS STEP SUITE XML STATUS LOG   put a JUnit file's tests into RESULTS, and print
                                                 the slowest
tally.py sum RESULTS [--all] [NOT-RUN...]        print the table, and the last line into
                                                 RESULTS.sum; exit 1 if any test failed

RESULTS has a line a test: suite, outcome, name, reason, the command that runs it alone, with tabs
between. Steps that are named as not run are printed, and count as nothing. With --all, every test
has run, so a line of tests/accepted-skips that none needed is printed, too.
"""

import collections
import re
import shlex
import sys
import xml.etree.ElementTree as ElementTree

import skips

OUTCOMES = ("passed", "failed", "skipped")
SLOWEST = 10


def one_line(text):
    return " ".join((text or "").split())[:200]


def case_name(case):
    """The test's own name, without TAP's number in front and pytest-xdist's group behind."""
    return re.sub(r"@[a-z-]+$", "", re.sub(r"^[0-9]+ - ", "", case.get("name")))


def test_name(suite_name, case):
    """module::name for pytest, executable::name for what meson ran."""
    place = case.get("classname") or suite_name
    # meson puts project and suite in front: "dewar.dewar:fuzz / fuzz_plan".
    return "%s::%s" % (place.split(".")[-1].split(" / ")[-1], case_name(case))


def alone(step, suite_name, case):
    """The command that runs this test and no other."""
    place = case.get("classname") or suite_name
    if re.fullmatch(r"[a-z0-9_]+\.test_[a-z0-9_]+", place):  # of pytest: folder.module
        test = "tests/%s.py::%s" % (place.replace(".", "/"), case_name(case))
    else:
        test = place.split(" / ")[-1]
    return "tests/run.sh %s %s" % (step, shlex.quote(test))


def outcome_of(case):
    for kind in ("failure", "error"):
        found = case.find(kind)
        if found is not None:
            return "failed", one_line(found.get("message") or found.text) or kind
    found = case.find("skipped")
    if found is not None:
        # meson puts it elsewhere.
        reason = found.get("message") or found.text or case.findtext("system-out")
        return "skipped", one_line(reason) or "no reason given"
    return "passed", ""


def read(step, xml):
    """The tests of a JUnit file: rows for RESULTS, and (seconds, name) of each."""
    rows, times = [], []
    for group in ElementTree.parse(xml).iter("testsuite"):
        for case in group.iter("testcase"):
            name = test_name(group.get("name", ""), case)
            rows.append((*outcome_of(case), name, alone(step, group.get("name", ""), case)))
            times.append((float(case.get("time") or 0), name))
    return rows, times


def add(results, step, suite, xml, status, log):
    times, again = [], "tests/run.sh " + step
    try:
        rows, times = read(step, xml)
    except (OSError, ElementTree.ParseError) as problem:
        rows = [("failed", "no account of the tests: %s" % problem, "all", again)]
    if not rows:
        rows.append(("failed", "it holds no test", "all", again))
    # A crash, or a program that failed although each of its tests passed.
    if status != "0" and not any(row[0] == "failed" for row in rows):
        rows.append(("failed", "ended with status %s, see %s" % (status, log), "all", again))

    with open(results, "a", encoding="utf-8") as file:
        for outcome, reason, name, command in rows:
            print(suite, outcome, name, reason, command, sep="\t", file=file)
    for seconds, name in sorted(times, reverse=True)[:SLOWEST]:
        if seconds >= 1:
            print("        %6.1f s  %s" % (seconds, name))


def summarize(results, *not_run):
    every_test = "--all" in not_run
    counts = collections.OrderedDict()
    listed = {"failed": [], "skipped": []}
    accepted = skips.accepted()
    needed = set()

    with open(results, encoding="utf-8") as file:
        for line in file:
            suite, outcome, name, reason, command = line.rstrip("\n").split("\t")
            if outcome == "skipped":
                entry = next((e for e in accepted if skips.accepts(e, suite, name)), None)
                if entry:
                    needed.add(entry)
                elif skips.must_work():
                    outcome, reason = "failed", "skipped itself: " + reason
            if outcome in listed:
                text = "%s  %s: %s" % (suite, name, reason)
                if outcome == "failed":
                    text += "\n      alone: " + command
                listed[outcome].append(text)
            counts.setdefault(suite, collections.Counter())[outcome] += 1

    for outcome in ("skipped", "failed"):
        if listed[outcome]:
            print("\n%s:" % outcome.capitalize())
            for text in listed[outcome]:
                print("  " + text)
    suites = set(counts) if every_test else ()
    for entry in accepted:
        if entry not in needed and any(skips.accepts(entry, s, entry[1]) for s in suites):
            print("\ntests/accepted-skips: not needed in this run: %s %s" % entry[:2])

    total = sum(counts.values(), collections.Counter())
    print("\n%-16s %8s %8s %8s" % ("", *OUTCOMES))
    for suite, count in counts.items():
        print("%-16s %8d %8d %8d" % (suite, *(count[o] for o in OUTCOMES)))
    print("%-16s %8d %8d %8d\n" % ("all", *(total[o] for o in OUTCOMES)))
    for step in set(not_run) - {"--all"}:
        print("not run: %s" % step)
    verdict = "%d passed, %d failed" % (total["passed"], total["failed"])
    with open(results + ".sum", "w", encoding="utf-8") as file:
        print(verdict, file=file)
    print(verdict)
    return 1 if total["failed"] or not total["passed"] else 0


def main():
    what, *rest = sys.argv[1:]
    return {"add": add, "sum": summarize}[what](*rest)


if __name__ == "__main__":
    sys.exit(main())
