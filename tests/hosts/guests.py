#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The hosts that are booted: their properties, and what Dewar must be able to do on each.

guests.py [--rows FOLDER] [--xml FILE] [--at-once N] [--tree FOLDER] [NAME...]

Each guest runs core.py, which compares what Dewar says with what happens, and those tests of
tests/e2e that are marked `core`. One guest has several rows if only the user differs. The output
is kept: FOLDER/ROW.json for the table, FOLDER/GUEST/ with every
output and the console. Exits with 1 if any check of any row failed.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import shutil
import sys
import xml.etree.ElementTree as ElementTree

import boot
import image

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKS, NOT_THERE = "works", "unavailable"

# The tests marked `core` that need no stronger level than process.
AT_PROCESS = "process and not processes and not cgroup2"
# The tests of cgroup v2 run with systemd, and once without.
NOT_GROUPS = "not cgroup2"


@dataclasses.dataclass
class Row:
    """A host, as seen by one of its users."""
    name: str
    user: str = "root"
    container: str = WORKS
    only: str = ""  # of the tests marked core, as for pytest -k
    before: str = ""  # commands that root's shell runs first


@dataclasses.dataclass
class Guest:
    """A guest, booted once for all of its rows."""
    name: str
    image: str
    rows: list
    append: str = ""


GUESTS = [
    Guest("systemd", "systemd", [Row("systemd-root"), Row("systemd-plain", "plain"),
                                 Row("systemd-service", "service")]),
    Guest("no-systemd", "plain", [Row("no-systemd-root"),
                                  Row("no-systemd-plain", "plain", only=NOT_GROUPS)]),
    Guest("no-cgroup", "plain", [Row("no-cgroup-root", only=NOT_GROUPS),
                                 Row("no-cgroup-plain", "plain", only=NOT_GROUPS)],
          "dewar.cgroup=none"),
    Guest("no-landlock", "plain", [Row("no-landlock-root", only=NOT_GROUPS),
                                   Row("no-landlock-plain", "plain", only=NOT_GROUPS)],
          "lsm=lockdown,yama,integrity,apparmor,bpf"),
    # EPERM without capabilities, as Ubuntu's AppArmor answers; then refused for every user.
    Guest("no-userns", "plain",
          [Row("userns-refused-plain", "plain", NOT_THERE, AT_PROCESS,
               "sysctl -qw kernel.unprivileged_userns_clone=0"),
           Row("no-userns-root", "root", NOT_THERE, AT_PROCESS,
               "sysctl -qw kernel.unprivileged_userns_clone=1 user.max_user_namespaces=0"),
           Row("no-userns-plain", "plain", NOT_THERE, AT_PROCESS)]),
]


def core_files(tree):
    """The files with tests marked core: to collect all the others takes 20 s in a guest."""
    folder = pathlib.Path(tree) / "tests" / "e2e"
    return ["tests/e2e/" + path.name for path in sorted(folder.glob("test_*.py"))
            if "pytest.mark.core" in path.read_text(encoding="utf-8")]


def jobs_of(row, tree):
    core = ["sh", "-c", "python3 tests/hosts/core.py --dewar $DEWAR --host %s --slow 4 "
            "--out $OUT/row.json" % row.name]
    tests = ["sh", "-c", "DEWAR_SUITE=hosts python3 -m pytest -q -c tests/pytest.ini "
             "%s -m core -k '%s' --junitxml=$OUT/e2e.xml --durations=5"
             % (" ".join(core_files(tree)), row.only)]
    return [boot.Job(row.name + ".core", core, row.user, row.before),
            boot.Job(row.name + ".e2e", tests, row.user)]


def run_guest(guest, rows, tree):
    """Boot the guest; returns (the test cases, a summary line)."""
    out = rows / guest.name
    shutil.rmtree(out, ignore_errors=True)
    for row in guest.rows:
        (rows / (row.name + ".json")).unlink(missing_ok=True)
    jobs = [job for row in guest.rows for job in jobs_of(row, tree)]
    try:
        done, seconds = boot.boot(jobs, out, guest.image, guest.append, tree=tree)
    except (boot.CannotBoot, image.CannotMake) as reason:
        return [case(guest.name, "boots", str(reason))], "%s: %s" % (guest.name, reason)
    cases = [case(guest.name, "boots")]
    done = {job.name: job for job in done}
    for row in guest.rows:
        cases += of_core(row, done[row.name + ".core"], rows)
        cases += of_tests(row, done[row.name + ".e2e"])
    bad = [c for c in cases if c.find("failure") is not None]
    lines = ["%s: %d checks, %d failed, %.0f s" % (guest.name, len(cases), len(bad), seconds)]
    lines += ["    FAIL %s: %s: %s" % (c.get("classname"), c.get("name"),
                                       c.find("failure").get("message")) for c in bad]
    return cases, "\n".join(lines)


def of_core(row, done, rows):
    """The test cases of core.py's checks, and that the host has the expected properties."""
    try:
        says = json.loads((done.files / "row.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        return [case(row.name, "core", "%s; it said: %s" % (problem, done.output[-4000:]))]
    (rows / (row.name + ".json")).write_text(json.dumps(says, indent=1) + "\n", encoding="utf-8")
    cases = [case(row.name, check["name"],
                  None if check["ok"] else str(check.get("detail")) or "it does not hold")
             for check in says["checks"]]
    state = says["levels"].get("container", {}).get("state")
    cases.append(case(row.name, "level container is %s here" % row.container,
                      None if state == row.container else "it is %s" % state))
    failed = any(not check["ok"] for check in says["checks"])
    if done.status != (1 if failed else 0) or not says["checks"]:
        cases.append(case(row.name, "core ends as its checks do", "ended with %d: %s"
                          % (done.status, done.output[-4000:])))
    return cases


def of_tests(row, done):
    """The test cases of pytest's report, under the row's name."""
    try:
        cases = list(ElementTree.parse(done.files / "e2e.xml").iter("testcase"))
    except (OSError, ElementTree.ParseError) as problem:
        return [case(row.name, "e2e", "%s; it said: %s" % (problem, done.output[-4000:]))]
    for one in cases:
        one.set("name", "%s/%s" % (one.get("classname").split(".")[-1], one.get("name")))
        one.set("classname", row.name)
        for error in one.findall("error"):
            error.tag = "failure"
    failed = any(one.find("failure") is not None for one in cases)
    if not cases or (done.status != 0 and not failed):
        cases.append(case(row.name, "e2e", "pytest ended with %d: %s"
                          % (done.status, done.output[-4000:])))
    return cases


def case(place, name, failure=None):
    element = ElementTree.Element("testcase", classname=place, name=name)
    if failure is not None:
        problem = ElementTree.SubElement(element, "failure", message=failure[:300])
        problem.text = failure
    return element


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=pathlib.Path, default=ROOT / "build/test-logs/hosts")
    parser.add_argument("--xml", type=pathlib.Path)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--tree", default=ROOT)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    guests = [guest for guest in GUESTS if not args.names or guest.name in args.names]
    if not guests:
        sys.exit("guests: there is none of that name: " + ", ".join(g.name for g in GUESTS))
    args.rows.mkdir(parents=True, exist_ok=True)
    suite = ElementTree.Element("testsuite", name="hosts")
    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        running = [pool.submit(run_guest, guest, args.rows, args.tree) for guest in guests]
        for one in concurrent.futures.as_completed(running):
            cases, line = one.result()
            suite.extend(cases)
            print(line, flush=True)
    if args.xml:
        ElementTree.ElementTree(suite).write(args.xml, encoding="utf-8", xml_declaration=True)
    return 1 if suite.find(".//failure") is not None else 0


if __name__ == "__main__":
    sys.exit(main())
