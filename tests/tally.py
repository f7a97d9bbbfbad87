#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Count tests.

tally.py add RESULTS SUITE XML STATUS LOG   put a JUnit file's tests into RESULTS
tally.py sum RESULTS                        print the table, and the last line into RESULTS.sum;
                                            exit 1 if any failed

RESULTS has a line a test: suite, outcome, name, reason, with tabs between.
"""

import collections
import re
import sys
import xml.etree.ElementTree as ElementTree

import skips

OUTCOMES = ("passed", "failed", "skipped")


def one_line(text):
    return " ".join((text or "").split())[:200]


def test_name(suite_name, case):
    """module::name for pytest, executable::name for what meson ran."""
    place = case.get("classname") or suite_name
    name = re.sub(r"^[0-9]+ - ", "", case.get("name"))
    # meson puts project and suite in front: "dewar.dewar:fuzz / fuzz_plan".
    return "%s::%s" % (place.split(".")[-1].split(" / ")[-1], name)


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


def add(results, suite, xml, status, log):
    rows = []
    try:
        for group in ElementTree.parse(xml).iter("testsuite"):
            rows += [(*outcome_of(case), test_name(group.get("name", ""), case))
                     for case in group.iter("testcase")]
    except (OSError, ElementTree.ParseError) as problem:
        rows.append(("failed", "no account of the tests: %s" % problem, "all"))
    if not rows:
        rows.append(("failed", "it holds no test", "all"))
    # A crash, or a program that failed although each of its tests passed.
    if status != "0" and not any(row[0] == "failed" for row in rows):
        rows.append(("failed", "ended with status %s, see %s" % (status, log), "all"))

    with open(results, "a", encoding="utf-8") as file:
        for outcome, reason, name in rows:
            print(suite, outcome, name, reason, sep="\t", file=file)


def summarize(results):
    counts = collections.OrderedDict()
    listed = {"failed": [], "skipped": []}
    accepted = skips.accepted()
    needed = set()

    with open(results, encoding="utf-8") as file:
        for line in file:
            suite, outcome, name, reason = line.rstrip("\n").split("\t")
            if outcome == "skipped":
                entry = next((e for e in accepted if skips.accepts(e, suite, name)), None)
                if entry:
                    needed.add(entry)
                elif skips.must_work():
                    outcome, reason = "failed", "skipped itself: " + reason
            if outcome in listed:
                listed[outcome].append("%s  %s: %s" % (suite, name, reason))
            counts.setdefault(suite, collections.Counter())[outcome] += 1

    for outcome in ("skipped", "failed"):
        if listed[outcome]:
            print("\n%s:" % outcome.capitalize())
            for text in listed[outcome]:
                print("  " + text)
    suites = set(counts)
    for entry in accepted:
        if entry not in needed and any(skips.accepts(entry, s, entry[1]) for s in suites):
            print("\ntests/accepted-skips: not needed in this run: %s %s" % entry[:2])

    total = sum(counts.values(), collections.Counter())
    print("\n%-16s %8s %8s %8s" % ("", *OUTCOMES))
    for suite, count in counts.items():
        print("%-16s %8d %8d %8d" % (suite, *(count[o] for o in OUTCOMES)))
    print("%-16s %8d %8d %8d\n" % ("all", *(total[o] for o in OUTCOMES)))
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
