#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Level docker beside `docker run`: the same image and limits, side by side in one run.

Every round starts each method once, in random order, so that all of them meet the same
noise; what counts are the ratios. A warm run is one call of the library in a program that
keeps containers ready, as a daemon does; the others are commands. Prints a table and keeps
it, with the machine and the date, in bench/docker.md; --json prints the numbers instead.

An engine of our own is started for it, as for the tests; with DOCKER_HOST set and --here it
is that one, which must have the image.

usage: bench/docker.py [--rounds N] [--keep FILE|-] [--json] [--here]
"""

import argparse
import datetime
import json
import os
import platform
import random
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.dont_write_bytecode = True

from engine import engines  # noqa: E402

IMAGE = "python:3.11-slim"
HELLO = "print(1)"
NULL = os.open(os.devnull, os.O_RDWR)
# Debian's, which is the engine's age; another one may be first on PATH.
DOCKER = next((p for p in ("/usr/bin/docker", "/usr/local/bin/docker") if os.path.exists(p)), None)
BARS = {"dewar run": 1.1, "dewar warm": 1 / 3}


def docker_run():
    """What level docker does, as far as the command has words for it."""
    return [DOCKER, "run", "--rm", "--network", "none", "--read-only", "--tmpfs",
            "/tmp:size=64m,nosuid,nodev", "--cap-drop", "ALL", "--security-opt",
            "no-new-privileges", "--user", "65534:65534", "--memory", "256m", "--memory-swap",
            "256m", "--cpus", "0.5", "--pids-limit", "64", "--ulimit", "nofile=4096:4096",
            "--log-driver", "none", IMAGE, "python3", "-c", HELLO]


def once(argv, env):
    """Milliseconds from spawn to the end of argv, which must succeed."""
    actions = [(os.POSIX_SPAWN_DUP2, NULL, fd) for fd in (0, 1, 2)]
    start = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    ms = (time.perf_counter_ns() - start) / 1e6
    if status != 0:
        sys.exit(f"bench: {' '.join(argv)} ended with status {status}")
    return ms


class Pool:
    """A program that keeps warm containers, as a daemon does; run() is one run in it."""

    def __init__(self, library, env):
        self.child = subprocess.Popen(
            ["/usr/bin/python3", os.path.abspath(__file__), "--pool", library], env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self):
        """(milliseconds, None), or (None, why there is no warm way)."""
        try:
            self.child.stdin.write("run\n")
            self.child.stdin.flush()
            answer = json.loads(self.child.stdout.readline() or '{"why": "the pool has ended"}')
        except OSError:
            answer = {"why": "the pool has ended"}
        return answer.get("ms"), answer.get("why")

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def keep_pool(path):
    """The program itself: for each line one run, once a container is ready."""
    import ctypes
    from e2e.pool_runs import ROOM, Library

    library = Library(path)
    text = json.dumps({"language": "python", "code": HELLO, "level": "docker",
                       "image": IMAGE, "pull": "never"}).encode()
    request = ctypes.create_string_buffer(ROOM)
    library.lib.dw_request_init(request)
    library.call("dw_request_from_json", request, text, ctypes.c_size_t(len(text)))
    pool = library.new_pool(request)
    for _ in sys.stdin:
        library.warm_up(pool, b"docker")
        start = time.perf_counter_ns()
        answer = library.run(pool, request)
        ms = (time.perf_counter_ns() - start) / 1e6
        if answer["status"] != "success":
            say = {"why": answer["hint"]}
        elif not answer["metadata"]["warm"]:
            say = {"why": "the run was not warm"}
        else:
            say = {"ms": ms}
        print(json.dumps(say), flush=True)
    library.lib.dw_pool_free(pool)


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p / 100))]


def measure(dewar, host, rounds):
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "DOCKER_HOST": host,
           "HOME": os.environ.get("HOME", "/")}
    commands = {"docker run": docker_run(),
                "dewar run": [dewar, "run", "--level", "docker", "--image", IMAGE, "--pull",
                              "never", "python", "-c", HELLO]}
    # The library looks for its helpers beside its program, which is Python's here.
    helpers = {f"DEWAR_{name.upper()}": f"{dewar}-{name}" for name in ("launch", "docker", "guest")}
    pool = Pool(os.path.join(os.path.dirname(dewar), "libdewar.so"), {**env, **helpers})
    times = {name: [] for name in (*commands, "dewar warm")}
    why = None
    for done in range(rounds + 1):
        order = list(times)
        random.shuffle(order)
        for name in order:
            if name in commands:
                ms = once(commands[name], env)
            elif why is None:
                ms, why = pool.run()
            else:
                continue
            if done > 0 and ms is not None:  # the first round warms the caches
                times[name].append(ms)
    pool.close()
    return times, why


def summary(times, why, engine):
    base = percentile(times["docker run"], 50)
    rows = []
    for name, values in times.items():
        row = {"method": name, "n": len(values), "bar": BARS.get(name)}
        if values and not (name == "dewar warm" and why):
            p50 = percentile(values, 50)
            row.update(p50_ms=p50, p95_ms=percentile(values, 95), ratio=p50 / base,
                       kept=None if name not in BARS else p50 / base <= BARS[name])
        else:
            row["not_measured"] = why or "no run"
        rows.append(row)
    return {"date": str(datetime.date.today()), "engine": engine, "image": IMAGE,
            "kernel": platform.release(), "cpus": os.cpu_count(), "load": os.getloadavg()[0],
            "user": "root" if os.geteuid() == 0 else "a plain user", "rows": rows}


def lines_of(answer):
    lines = [f"Level docker, {answer['date']}, as {answer['user']}: {answer['engine']}, Linux "
             f"{answer['kernel']}, {answer['cpus']} cores, load {answer['load']:.2f}. `print(1)` "
             f"in {answer['image']}. Made by `make bench`.", "",
             "| method | n | p50 ms | p95 ms | of docker run | bar | met |",
             "|---|---|---|---|---|---|---|"]
    for row in answer["rows"]:
        if "not_measured" in row:
            lines.append(f"| {row['method']} | | | | | | not measured: {row['not_measured']} |")
            continue
        bar, met = "", ""
        if row["bar"]:
            bar, met = f"{row['bar']:.2f}", "kept" if row["kept"] else "**missed**"
        lines.append(f"| {row['method']} | {row['n']} | {row['p50_ms']:.1f} | "
                     f"{row['p95_ms']:.1f} | {row['ratio']:.2f} | {bar} | {met} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--keep", default=os.path.join(ROOT, "bench", "docker.md"),
                        help="where to keep the table; - for nowhere")
    parser.add_argument("--json", action="store_true", help="print the numbers, keep nothing")
    parser.add_argument("--here", action="store_true", help="the engine that DOCKER_HOST names")
    parser.add_argument("--pool", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.pool:
        keep_pool(args.pool)
        return
    dewar = os.environ.get("DEWAR", os.path.join(ROOT, "build", "dewar"))
    engine = None
    try:
        if DOCKER is None:
            raise engines.CannotStart("no docker command to compare with")
        if not args.here:
            engine = engines.start("docker")
        host = engine.host if engine else os.environ["DOCKER_HOST"]
        version = subprocess.run([DOCKER, "version", "--format", "{{.Server.Version}}"],
                                 env={**os.environ, "DOCKER_HOST": host}, text=True,
                                 stdout=subprocess.PIPE, check=True).stdout.strip()
        times, why = measure(dewar, host, args.rounds)
        answer = summary(times, why, "Docker " + version)
    except engines.CannotStart as reason:
        # Not a failure of Dewar's; but nobody shall think that it was measured.
        print(f"bench: LEVEL DOCKER IS NOT MEASURED: {reason}", file=sys.stderr)
        return
    finally:
        if engine:
            engine.stop()
    if args.json:
        print(json.dumps(answer, indent=1))
        return
    lines = lines_of(answer)
    print("\n".join(lines))
    if args.keep != "-":
        with open(args.keep, "w", encoding="utf-8") as out:
            out.write("# Level docker\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
