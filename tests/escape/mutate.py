#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Take one wall away, and see which attacks then get through.

  tests/escape/mutate.py --list
  tests/escape/mutate.py [--build DIR] [--docker] [--full] [--jobs N] [MUTANT...]

Each mutant is built from edited copies of the sources it names and the objects
of an ordinary build, then attacked by `dewar verify`. What a zygote loads is part of
dewar, so an edit of it takes a library, a header and an object more. With --full all attacks
are tried and every verdict that changed is printed; without, only those that
the mutant names. As root, mutants that only a plain user would notice are run as
one.
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

from mutants import DOCKER_MUTANTS, MUTANTS  # noqa: E402

PROGRAMS = ("dewar", "dewar-launch", "dewar-verify", "dewar-attacks", "dewar-docker",
            "dewar-guest", "dewar-hosts", "dewar-resolv.conf")
MAKES_CELLS = ("dewar", "dewar-verify")  # each has the library in it
LIBRARY = "libdewar-static"
HOLDER = "src/warm/template.c"  # of what is embedded
EMBEDDED = "runners_embedded.h"
# A program, what its sources begin with, and the target that compiles them.
LINKED = (("dewar-guest", "src/launch/guest", "dewar-guest"),
          ("dewar-launch", "src/launch/", "dewar-launch"),
          ("dewar-docker", "src/docker/", "libdocker"))
PLACES = {("docker", "cold"): "docker", ("process", "cold"): "process", ("container", "cold"): "container",
          ("container", "standby"): "warm", ("container", "fork"): "forked"}
PLAIN_ID = 12399  # nobody's
VERIFY_SECONDS = 1200


class Trouble(Exception):
    pass


def edited(edits, path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    for name, old, new in edits:
        if name != path:
            continue
        if text.count(old) != 1:
            raise Trouble("%s has %d times: %r" % (path, text.count(old), old))
        text = text.replace(old, new)
    return text


def compile_command(build, path, target):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        source = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        if source == path and target in entry["output"].split("/")[0]:
            return shlex.split(entry["command"]), entry["output"]
    raise Trouble("no command compiles %s for %s" % (path, target))


def run(argv, **kwargs):
    done = subprocess.run(argv, capture_output=True, text=True, check=False, **kwargs)
    if done.returncode != 0:
        raise Trouble("%s: %s" % (" ".join(argv[:3]), done.stderr[-2000:]))
    return done.stdout


def compile_mutant(mutant, build, folder, path, target):
    """The object of the edited file, and the name of the one it stands for."""
    command, output = compile_command(build, path, target)
    source = os.path.join(folder, target + "-" + path.replace("/", "_"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(edited(mutant["edits"], path))
    made = source + ".o"
    original = os.path.relpath(os.path.join(ROOT, path), build)
    command = [source if word == original else made if word == output else word
               for word in command]
    # A wall that is gone leaves things unused.
    run([word for word in command if word != "-Werror"] + ["-w"], cwd=build)
    return made, output


def last_command(build, target):
    return shlex.split(run(["ninja", "-C", build, "-t", "commands", target]).splitlines()[-1])


def link_mutant(build, program, objects, to):
    """objects: those that are ours, by the name of the one each stands for."""
    command = last_command(build, program)
    linked = []
    for word in command:
        if word == program:
            word = to
        linked.append(objects.get(word, word))
    # What lies in an archive is taken from there only if nobody was first.
    extra = [made for name, made in objects.items() if name not in command]
    at = linked.index(to) + 1
    run(linked[:at] + extra + linked[at:], cwd=build)


def compile_all(mutant, build, folder, paths, target):
    """The edited objects, each by the name of the one that it stands for."""
    made = (compile_mutant(mutant, build, folder, path, target) for path in paths)
    return {output: edited_object for edited_object, output in made}


def embed(mutant, build, folder, paths):
    """A header with what a zygote loads, beside the source that includes it."""
    instead = {EMBEDDED: os.path.join(folder, EMBEDDED)}
    sources = [path for path in paths if path.endswith(".c")]
    if sources:
        instead["zygote.so"] = os.path.join(folder, "zygote.so")
        link_mutant(build, "zygote.so", compile_all(mutant, build, folder, sources, "zygote"),
                    instead["zygote.so"])
    for path in set(paths) - set(sources):
        copy = os.path.join(folder, path.replace("/", "_"))
        with open(copy, "w", encoding="utf-8") as file:
            file.write(edited(mutant["edits"], path))
        instead[os.path.relpath(os.path.join(ROOT, path), build)] = copy
    run([instead.get(word, word) for word in last_command(build, EMBEDDED)], cwd=build)


def copy_programs(build, folder):
    for program in PROGRAMS:
        if os.path.exists(os.path.join(build, program)):  # level docker can be left out
            shutil.copy2(os.path.join(build, program), folder)


def make(mutant, build, folder):
    """A folder with the programs, as many of them mutated as it takes."""
    copy_programs(build, folder)
    paths = sorted({edit[0] for edit in mutant["edits"]})
    for program, begin, target in LINKED:
        own = [path for path in paths if path.startswith(begin)]
        paths = [path for path in paths if path not in own]
        if own:
            link_mutant(build, program, compile_all(mutant, build, folder, own, target),
                        os.path.join(folder, program))
    runners = [path for path in paths if path.startswith("runners/")]
    library = [path for path in paths if path not in runners]
    if runners:
        embed(mutant, build, folder, runners)
        library.append(HOLDER)
    if library:
        objects = compile_all(mutant, build, folder, library, LIBRARY)
        for program in MAKES_CELLS:
            link_mutant(build, program, objects, os.path.join(folder, program))
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
    """Options of `dewar verify` for the attacks of a `red`, where it names them."""
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
        print("  nothing turns red%s" % (": " + mutant["redundant"] if mutant["redundant"] else ""))
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
    chosen = [m for m in (DOCKER_MUTANTS if args.docker else MUTANTS) if not args.mutant or m["name"] in args.mutant]
    unknown = set(args.mutant) - {m["name"] for m in chosen}
    if unknown:
        parser.error("no mutant is called %s" % ", ".join(sorted(unknown)))
    if args.list:
        for mutant in chosen:
            print("%-34s %s" % (mutant["name"], mutant["wall"]))
        return 0

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
