#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Remove one wall, and report the attacks that then succeed.

  tests/escape/mutate.py --list
  tests/escape/mutate.py [--build DIR] [--docker] [--full] [--jobs N] [MUTANT...]

Each mutant is built from edited copies of the sources that contain its anchors
(anchors.py) and the objects of an ordinary build, then attacked by `dewar verify`. The
code that a zygote loads is embedded in dewar, so a mutant of it also rebuilds a library,
a header and an object. With --full all attacks run and every verdict that changed is
printed; otherwise only those that the mutant names. As root, mutants that only a plain
user would notice run as a plain user.
"""

import argparse
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

from anchors import FOLDERS, Tree, Trouble  # noqa: E402
from mutants import DOCKER_MUTANTS, MUTANTS  # noqa: E402

PROGRAMS = ("dewar", "dewar-launch", "dewar-verify", "dewar-attacks", "dewar-docker",
            "dewar-guest", "dewar-hosts", "dewar-resolv.conf")
CELLS = ("dewar", "dewar-launch", "dewar-verify")  # the programs of mutants of our own levels
ENGINE = ("dewar-docker", "dewar-guest")
ZYGOTE = "zygote.so"
EMBEDDED = "runners_embedded.h"  # contains ZYGOTE and the scripts that load it
HOLDER = "src/warm/template.c"  # includes EMBEDDED
PLACES = {("docker", "cold"): "docker", ("process", "cold"): "process",
          ("container", "cold"): "container", ("container", "standby"): "warm",
          ("container", "fork"): "forked"}
# An id that no user and no other test process has: without cgroups, limits count the processes of
# a user.
PLAIN_ID = 20000 + os.getpid() % 20000
VERIFY_SECONDS = 1200


def run(argv, **kwargs):
    done = subprocess.run(argv, capture_output=True, text=True, check=False, **kwargs)
    if done.returncode != 0:
        raise Trouble("%s: %s" % (" ".join(argv[:3]), done.stderr[-2000:]))
    return done.stdout


def ninja(build, *words):
    return run(["ninja", "-C", build, "-t", *words]).splitlines()


def inputs(build, target):
    return set(ninja(build, "inputs", target))


def read(texts, path):
    if path in texts:
        return texts[path]
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def includers(build, headers):
    """The objects whose sources include one of these."""
    names = {os.path.relpath(os.path.join(ROOT, header), build) for header in headers}
    found, name = set(), None
    for line in ninja(build, "deps") if names else ():
        if line.strip() in names:
            found.add(name)
        elif line and not line[0].isspace():
            name = line.split(": #deps")[0]
    return found


class Objects:
    """The objects that the edits change, each compiled when it is first asked for.

    texts: the edited files, by their path. An edited header is put where an include finds it
    before that of the tree.
    """

    def __init__(self, texts, build, folder):
        self.texts, self.build, self.folder = texts, build, folder
        self.made, self.commands = {}, {}
        headers = [path for path in texts if path.endswith(".h")]
        for path in headers:
            copy = os.path.join(folder, "edited", path)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(copy, "w", encoding="utf-8") as file:
                file.write(texts[path])
        self.first = ["-I" + os.path.join(folder, "edited", top)
                      for top in ("src", "include", "") if headers]
        self.add(texts, includers(build, headers))

    def add(self, paths, outputs=()):
        """Compile these sources and these objects again."""
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            for entry in json.load(file):
                source = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
                if source.split("/")[0] not in FOLDERS:
                    continue  # a build tool or a test
                if source in paths or entry["output"] in outputs:
                    self.commands[entry["output"]] = source, shlex.split(entry["command"])

    def compile(self, output):
        """The object that replaces one of an ordinary build."""
        if output in self.made:
            return self.made[output]
        path, command = self.commands[output]
        source = os.path.join(self.folder, output.split("/")[0] + "-" + path.replace("/", "_"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(read(self.texts, path))
        made = source + ".o"
        original = os.path.relpath(os.path.join(ROOT, path), self.build)
        command = [source if word == original else made if word == output else word
                   for word in command]
        # Without the wall some variables and functions are unused.
        command = [word for word in command if word != "-Werror"]
        run([command[0], *self.first, *command[1:], "-w"], cwd=self.build)
        self.made[output] = made
        return made

    def of(self, names):
        """Those among names that the edits change, by name."""
        return {name: self.compile(name) for name in sorted(names) if name in self.commands}


def last_command(build, target):
    return shlex.split(ninja(build, "commands", target)[-1])


def link_mutant(build, program, objects, to):
    """objects: our own objects, by the name of the one that each replaces."""
    command = last_command(build, program)
    linked = []
    for word in command:
        if word == program:
            word = to
        linked.append(objects.get(word, word))
    # The linker takes an object from an archive only if no other one has its symbols.
    extra = [made for name, made in objects.items() if name not in command]
    at = linked.index(to) + 1
    run(linked[:at] + extra + linked[at:], cwd=build)


def embed(objects, zygote, scripts):
    """Make the header with the code that a zygote loads, beside the source that includes it."""
    build, folder = objects.build, objects.folder
    instead = {EMBEDDED: os.path.join(folder, EMBEDDED)}
    if zygote:
        instead[ZYGOTE] = os.path.join(folder, ZYGOTE)
        link_mutant(build, ZYGOTE, zygote, instead[ZYGOTE])
    for path in scripts:
        copy = os.path.join(folder, path.replace("/", "_"))
        with open(copy, "w", encoding="utf-8") as file:
            file.write(objects.texts[path])
        instead[os.path.relpath(os.path.join(ROOT, path), build)] = copy
    run([instead.get(word, word) for word in last_command(build, EMBEDDED)], cwd=build)


def copy_programs(build, folder):
    for program in PROGRAMS:
        if os.path.exists(os.path.join(build, program)):  # level docker is optional
            shutil.copy2(os.path.join(build, program), folder)


def make(mutant, build, folder):
    """Fill a folder with all programs; those that the edits change are the mutated ones."""
    copy_programs(build, folder)
    objects = Objects(Tree(ROOT).apply(mutant), build, folder)
    in_zygote = inputs(build, ZYGOTE)
    zygote = objects.of(in_zygote)
    embedded = inputs(build, EMBEDDED)
    scripts = [path for path in objects.texts if not path.endswith((".c", ".h", ".S")) and
               os.path.relpath(os.path.join(ROOT, path), build) in embedded]
    if zygote or scripts:
        embed(objects, zygote, scripts)
        objects.add([HOLDER])
    for program in CELLS + (ENGINE if "docker" in mutant["red"] else ()):
        ours = objects.of(inputs(build, program) - in_zygote)
        if ours:
            link_mutant(build, program, ours, os.path.join(folder, program))
    used = {objects.commands[name][0] for name in objects.made}.union(scripts)
    for path in objects.texts:
        if not (used if path.endswith(".h") else path in used):
            raise Trouble("mutant %s: no program that it runs is built from %s" % (
                mutant["name"], path))
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)


def verify(folder, user, *options):
    """The rows of `dewar verify`, by attack and place."""
    argv = [os.path.join(folder, "dewar"), "verify", "--json", *options]
    if user == "plain" and os.geteuid() == 0:
        argv = ["setpriv", "--reuid", str(PLAIN_ID), "--regid", str(PLAIN_ID), "--clear-groups",
                "--inh-caps=-all", *argv]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/",
                          timeout=VERIFY_SECONDS)
    if done.returncode not in (0, 1):
        raise Trouble("verify: %s" % done.stderr[-2000:])
    rows = json.loads(done.stdout)["rows"]
    return {(row["attack"], PLACES[row["level"], row["way"]]): row for row in rows}


def user_of(mutant):
    if mutant["user"]:
        return mutant["user"]
    return "root" if os.geteuid() == 0 else "plain"


def can_run(mutant):
    return user_of(mutant) == "plain" or os.geteuid() == 0


def choice(expected):
    """Options of `dewar verify` for the attacks that `red` names, if it does."""
    options = ["--only", ",".join(sorted({name for names in expected.values()
                                          for name in names}))]
    if "docker" in expected:
        return [*options, "--level", "docker"]
    if "process" not in expected:
        options += ["--level", "container"]
    if "warm" not in expected:
        options += ["--way", "cold"]
    elif len(expected) == 1:
        options += ["--way", "standby"]
    return options


def red_rows(mutant, build, options=()):
    """Build the mutant, attack it, and return all rows."""
    with tempfile.TemporaryDirectory(prefix="dewar-mutant-") as folder:
        os.chmod(folder, 0o755)
        make(mutant, build, folder)
        return verify(folder, user_of(mutant), *options)


def level_of(mutant):
    return ("--level", "docker") if mutant in DOCKER_MUTANTS else ()


def attack(mutant, build, full):
    options = level_of(mutant) if full else choice(mutant["red"])
    try:
        return red_rows(mutant, build, options)
    except Trouble as trouble:
        return trouble


def report(mutant, rows, normal):
    if isinstance(rows, Trouble):
        print("%s: %s" % (mutant["name"], rows))
        return
    escaped = {level: sorted(a for (a, l), row in rows.items()
                             if l == level and row["verdict"] == "escaped")
               for level in PLACES.values()}
    print("%s (%s, as %s)" % (mutant["name"], mutant["wall"], user_of(mutant)))
    for level, names in escaped.items():
        if names:
            print("  %-9s %d red: %s" % (level, len(names), ", ".join(names)))
    if not any(escaped.values()):
        why = ": " + mutant["redundant"] if mutant["redundant"] else ""
        print("  nothing turns red" + why)
    for key, row in sorted(rows.items()):
        before = normal.get(user_of(mutant), {}).get(key)
        if before and row["verdict"] != "escaped" and \
                (row["verdict"], row["wall"]) != (before["verdict"], before["wall"]):
            print("  %s at %s: %s %s, was %s %s (%s)" % (
                *key, row["verdict"], row["wall"], before["verdict"], before["wall"],
                row["detail"]))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--full", action="store_true", help="try all attacks")
    parser.add_argument("--jobs", "-j", type=int, default=1, help="how many at a time")
    parser.add_argument("--list", action="store_true", help="name the mutants and end")
    parser.add_argument("--docker", action="store_true",
                        help="those of level docker, beside the engine of DOCKER_HOST")
    parser.add_argument("mutant", nargs="*")
    args = parser.parse_args()
    chosen = [m for m in (DOCKER_MUTANTS if args.docker else MUTANTS)
              if not args.mutant or m["name"] in args.mutant]
    unknown = set(args.mutant) - {m["name"] for m in chosen}
    if unknown:
        parser.error("no mutant is called %s" % ", ".join(sorted(unknown)))
    if args.list:
        for mutant in chosen:
            print("%-34s %s" % (mutant["name"], mutant["wall"]))
        return 0
    try:
        Tree(ROOT).check(MUTANTS + DOCKER_MUTANTS)
    except Trouble as trouble:
        parser.exit(2, "%s\n" % trouble)

    build = os.path.abspath(args.build)
    normal = {}
    if args.full:
        for user in sorted({user_of(m) for m in chosen if can_run(m)}):
            with tempfile.TemporaryDirectory(prefix="dewar-mutant-") as folder:
                os.chmod(folder, 0o755)
                copy_programs(build, folder)
                normal[user] = verify(folder, user, *level_of(chosen[0]))
    chosen = [m for m in chosen if can_run(m) and (args.full or m["red"])]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for mutant, rows in zip(chosen, pool.map(lambda m: attack(m, build, args.full), chosen)):
            report(mutant, rows, normal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
