#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compare what Dewar does on this host with what it reports.

Runs inside any host of the matrix, as the calling user, and needs only python3 and the
built programs:

    core.py --dewar PATH --host NAME --out row.json [--xml FILE] [--verify LIST] [--slow N]

1. The doctor's statement about each level is compared with a run at that level.
2. Each wall that a run's proof claims is tried from inside (probe.py); the same is tried at
   level none, where it must succeed: otherwise it would prove nothing.
3. Each limit that is reported as enforced is exceeded; for each other one the result must say
   so, and --strict must refuse.
4. Runs must leave nothing behind.
5. Some attacks of `dewar verify` run, or those that --verify names ("no" for none).

The row contains the data for the table; the exit status is 0 only if every check holds.
"""

import argparse
import contextlib
import ctypes
import errno
import json
import os
import pathlib
import platform
import pwd
import re
import socket
import subprocess
import sys
import tempfile
import uuid
from xml.etree import ElementTree

import limits  # beside this file

HERE = pathlib.Path(__file__).resolve().parent
LEVELS = ["none", "process", "container", "docker", "microvm"]
WALLED = ["process", "container", "docker"]
ATTACKS = ("read-flag-by-path,write-beside-flag,kill-the-witness,read-memory-of-the-witness,"
           "become-root-in-a-namespace,clone3-into-new-users,take-capabilities,leave-a-daemon")
NO_CAPS = "0" * 16

# For each attempt the walls that stop it; one of them suffices. An attempt that no wall of the
# proof stops may succeed.
STOPPED_BY = {
    "read the secret": ["ns mount", "landlock"],
    "write beside the secret": ["ns mount", "landlock"],
    "write into the root": ["root read-only", "landlock"],
    "connect to the host": ["ns net"],
    "connect to an abstract socket": ["ns net", "landlock scope"],
    "find the host's shared memory": ["ns ipc"],
    "see a process": ["ns pid"],
    "signal a process": ["ns pid", "landlock scope"],
    "trace a process": ["ns pid", "seccomp", "landlock"],
    "trace a child": ["seccomp"],
    "make a user namespace": ["seccomp"],
    "mount": ["seccomp", "capabilities"],
    "change the root": ["capabilities"],
    "watch files": ["seccomp"],
    "use the keyring": ["seccomp"],
}
# Without walls these succeed on every host; the others need privileges that not every user has.
ALWAYS = ["read the secret", "write beside the secret", "connect to the host", "see a process",
          "connect to an abstract socket", "signal a process"]


class Host:
    """This host, and the results of the checks."""

    def __init__(self, args):
        self.dewar, self.slow = os.path.abspath(args.dewar), args.slow
        self.row = {"host": args.host, "user": "root" if os.getuid() == 0 else "plain",
                    "account": account(), "kernel": platform.release(),
                    "machine": platform.machine(), "doctor": [], "levels": {}, "checks": []}
        self.pids = []  # of every dewar that was started
        self.scratch = None

    def check(self, name, ok, detail=""):
        self.row["checks"].append({"name": name, "ok": bool(ok), "detail": str(detail)})
        print("%s  %s%s" % ("ok  " if ok else "FAIL", name,
                            "" if ok or not detail else ": %s" % (detail,)), flush=True)
        return bool(ok)

    def call(self, *words, seconds=60):
        """Run dewar with these words; None if it did not end in time."""
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("DEWAR_", "CODE_EXEC_")) or k == "DEWAR_LAUNCH"}
        env.update(TMPDIR=str(self.scratch / "tmp"), XDG_STATE_HOME=str(self.scratch / "state"),
                   XDG_CONFIG_HOME=str(self.scratch / "config"))
        with subprocess.Popen([self.dewar, *words], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.pids.append(process.pid)
            try:
                out, err = process.communicate(timeout=seconds * self.slow)
            except subprocess.TimeoutExpired:
                process.kill()
                self.check("`dewar %s` ends" % " ".join(words)[:60], False, "not in time")
                return None
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def json(self, *words, seconds=60):
        done = self.call(*words, seconds=seconds)
        if done is None:
            return None
        try:
            return json.loads(done.stdout)
        except ValueError:
            self.check("`dewar %s` answers with JSON" % " ".join(words)[:60], False,
                       "status %d: %r" % (done.returncode, (done.stdout + done.stderr)[-500:]))
            return None

    def run(self, level, code, *args, options=(), language="python"):
        r = self.json("run", "--no-audit", "--policy", "open", "--json", "--level", level,
                      *options, language, "-c", code, "--", *map(str, args))
        if r is None:
            return {"status": "error", "reason": "harness", "hint": "no answer", "stdout": "",
                    "warnings": [], "proof": {"walls": None, "limits": {}, "achieved": None}}
        return r

    def seconds(self, n):
        """A time limit for dewar, on a host that may be slow."""
        return ["--timeout", "%ds" % (n * self.slow)]


def account():
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


# ---- 1. the doctor's statements ----

def ask_doctor(host):
    findings = host.json("doctor", "--json", seconds=120) or []
    host.row["doctor"] = findings
    host.check("the doctor answers", findings)
    for f in findings:
        # Warm cells concern speed and are not a wall.
        if f["state"] != "ok" and "not part of this version" not in f["detail"] \
                and not f["area"].startswith("warm "):
            host.check("the doctor has a remedy for: %s" % f["area"], f["remedy"], f["detail"])
    return {f["area"]: f for f in findings}


def try_levels(host, doctor, targets):
    """Run each level and compare with the doctor; returns the probe's answers by level."""
    probe = (HERE / "probe.py").read_text(encoding="utf-8")
    answers = {}
    for level in LEVELS:
        aim = json.dumps({**targets, "control": level == "none"})
        r = host.run(level, probe, aim, options=host.seconds(20))
        works = r["proof"]["achieved"] == level and r["reason"] != "unavailable"
        entry = {"state": "works" if works else "unavailable", "why": None, "remedy": None,
                 "walls": r["proof"]["walls"], "limits": r["proof"]["limits"] if works else {},
                 "warnings": r["warnings"]}
        host.row["levels"][level] = entry
        word = doctor.get("level " + level, {"state": "?", "detail": "", "remedy": None})
        if works:
            answers[level] = read_answer(host, level, r)
        else:
            entry.update(why=r["hint"], remedy=word["remedy"])
            never_ran(host, level, r)
        agree(host, level, r, works, word)
    return answers


def read_answer(host, level, r):
    try:
        answer = json.loads(r["stdout"])
    except ValueError:
        answer = None
    host.check("%s: the probe runs" % level, answer and r["status"] == "success",
               "%s %s %s" % (r["reason"], r["hint"], (r["stdout"] + r.get("stderr", ""))[-400:]))
    return answer


def never_ran(host, level, r):
    host.check("%s: unavailable is said, and nothing ran" % level,
               r["reason"] == "unavailable" and r["stdout"] == "" and r["proof"]["achieved"] is None,
               "%s %s %r" % (r["reason"], r["hint"], r["stdout"][:80]))


def agree(host, level, r, works, word):
    said = "doctor says %s (%s), run: %s %s" % (word["state"], word["detail"], r["reason"],
                                                r["hint"])
    if not host.check("%s: the doctor is right" % level,
                      (word["state"] in ("ok", "weak")) == works and word["state"] != "?", said):
        return
    hint = r["hint"] or ""
    if not works and "not part of this version" not in word["detail"]:
        host.check("%s: the run gives the doctor's reason" % level, same_cause(word, hint), said)
        host.check("%s: the run gives a remedy" % level,
                   word["remedy"] and word["remedy"] in hint, said)
    if works and word["state"] == "weak":
        notes = [limit["note"] for limit in r["proof"]["limits"].values() if limit["note"]]
        host.check("%s: a weak level says what is missing" % level, r["warnings"] or notes, said)


def same_cause(word, hint):
    """Returns true if the texts before the remedy agree, apart from the operation that failed."""
    cause = re.split(r"[;:,] (?:try|install)\b", word["detail"])[0]
    return cause in hint or word["detail"] in hint


def compare_rest(host, doctor):
    """Compare the doctor's other statements with a run at the strongest level of Dewar's own."""
    level = next((x for x in ("container", "process")
                  if host.row["levels"][x]["state"] == "works"), None)
    if level is None:
        return
    entry = host.row["levels"][level]
    for name in ("memory", "cpu", "pids"):
        word, held = doctor.get("limit " + name), entry["limits"].get(name)
        if not word or not held:
            continue
        version = re.search(r"cgroup version (\d)", word["detail"])
        by_cgroup = held["by"].startswith("cgroup")
        host.check("limit %s: the doctor is right" % name,
                   (by_cgroup and version and held["by"] == "cgroup" + version[1])
                   if word["state"] == "ok" else not by_cgroup, (word, held))
        host.check("limit %s: missing means not enforced" % name,
                   held["enforced"] == (word["state"] != "missing"), (word, held))
    word = doctor.get("landlock")
    if word and entry["walls"]:
        abi = re.search(r"ABI (\d+)", word["detail"]) if word["state"] == "ok" else None
        has = (entry["walls"]["landlock"] or {}).get("abi")
        host.check("landlock: the doctor is right", has == (int(abi[1]) if abi else None),
                   (word, has))
    compare_network(host, doctor, level)


def compare_network(host, doctor, level):
    word = doctor.get("network full")
    if level != "container" or not word:
        return
    r = host.run(level, "echo ran", options=["--network", "full"], language="sh")
    works = r["stdout"] == "ran\n"
    host.check("network full: the doctor is right", works == (word["state"] != "missing"),
               (word, r["reason"], r["hint"]))


# ---- 2. walls ----

def claims(walls):
    """The walls of a proof, by the names that STOPPED_BY uses."""
    abi = (walls["landlock"] or {"abi": 0})["abi"]
    all_caps = walls["capabilities"]
    return {
        **{"ns " + name: own for name, own in walls["namespaces"].items()},
        "capabilities": all_caps["effective"] == all_caps["permitted"] == NO_CAPS,
        "no new privileges": walls["no_new_privs"],
        "seccomp": walls["seccomp"]["mode"] == 2,
        "landlock": abi >= 1, "landlock scope": abi >= 6,
        "root read-only": walls["root_read_only"],
        "no network": walls["network"]["interfaces"] == 0,
    }


def check_walls(host, answers):
    control = answers.get("none")
    if not control:
        return
    for name in ALWAYS:
        got = control["tried"][name]
        host.check("none: control: %s" % name, got == 0, errno.errorcode.get(got, got))
    for level in WALLED:
        if answers.get(level):
            check_seen(host, level, answers[level]["seen"], control["seen"])
            check_tried(host, level, answers[level]["tried"], control["tried"])
            check_promised(host, level)


def check_seen(host, level, seen, control):
    """Check that the proof agrees with what the program itself saw."""
    walls = host.row["levels"][level]["walls"]
    for name, own in walls["namespaces"].items():
        host.check("%s: %s namespace as claimed" % (level, name),
                   own == (seen["namespaces"][name] != control["namespaces"][name]), own)
    for name, value in walls["capabilities"].items():
        host.check("%s: %s capabilities as claimed" % (level, name),
                   value == seen["capabilities"][name], (value, seen["capabilities"][name]))
    for name in ("no_new_privs", "uid", "gid", "root_read_only", "seccomp"):
        host.check("%s: %s as claimed" % (level, name), walls[name] == seen[name],
                   (walls[name], seen[name]))
    host.check("%s: interfaces as claimed" % level,
               walls["network"]["interfaces"] == seen["interfaces"],
               (walls["network"], seen["interfaces"]))
    # On a host with a filter around dewar, mode 2 alone does not show that Dewar's filter is loaded.
    if walls["seccomp"]["mode"] == 2 and seen["seccomp"]["filters"] >= 0:
        host.check("%s: a filter of our own" % level,
                   seen["seccomp"]["filters"] > control["seccomp"]["filters"],
                   (seen["seccomp"], control["seccomp"]))


def check_tried(host, level, tried, control):
    claimed = claims(host.row["levels"][level]["walls"])
    held = host.row["levels"][level]["tried"] = {}
    for name, got in tried.items():
        before = [wall for wall in STOPPED_BY[name] if claimed[wall]]
        word = "got through" if got == 0 else errno.errorcode.get(got, str(got))
        held[name] = {"got": word, "walls": before, "control": control[name] == 0}
        if before:
            host.check("%s: %s: refused (%s%s)"
                       % (level, name, ", ".join(before),
                          "" if control[name] == 0 else "; no control"), got != 0, word)


def check_promised(host, level):
    """Check the walls that a level always has, and that it reports others that it lacks."""
    entry = host.row["levels"][level]
    claimed = claims(entry["walls"])
    needed = ["capabilities", "no new privileges", "seccomp"]
    if level == "container":
        needed += ["ns " + n for n in entry["walls"]["namespaces"]] + ["root read-only",
                                                                     "no network"]
    for wall in needed:
        host.check("%s: is never without: %s" % (level, wall), claimed[wall])
    if level == "process" and not claimed["landlock"]:
        host.check("process: says that it has no Landlock",
                   any("landlock" in w.lower() for w in entry["warnings"]), entry["warnings"])


# ---- 4. nothing is left behind ----

def check_left(host, level):
    mark = "dewar-hosts-" + uuid.uuid4().hex
    code = ("import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
            "        os.execv(sys.executable, ['python3', '-c', 'import time; time.sleep(300)',"
            " sys.argv[1]])\n    os._exit(0)\nos.wait()\nopen('/tmp/left', 'w').close()\n")
    host.run(level, code, mark, options=host.seconds(15))
    host.check("%s: no process is left" % level, not alive(mark), alive(mark))


def alive(mark):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(path.parent.name)
    return found


def check_all_left(host):
    left = os.listdir(host.scratch / "tmp")
    host.check("no folder is left", not left, left)
    # Their names contain the pid of the process that created them, and its pid namespace.
    ours = tuple("dewar-%d-%d-" % (os.stat("/proc/self/ns/pid").st_ino, pid) for pid in host.pids)
    groups = [name for mount in cgroup_mounts() for _, folders, _ in os.walk(mount)
              for name in folders if name.startswith(ours)]
    host.check("no cgroup is left", not groups, groups)


def cgroup_mounts():
    with contextlib.suppress(OSError), open("/proc/self/mounts", encoding="utf-8") as file:
        return [words[1] for words in map(str.split, file) if words[2].startswith("cgroup")]
    return []


# ---- 5. the escape suite ----

def check_escapes(host, attacks):
    for level in ("process", "container"):
        if host.row["levels"][level]["state"] != "works" or attacks == "no":
            continue
        if host.row["levels"]["container"]["state"] != "works":
            host.row["levels"][level]["escapes"] = "no namespaces to attack in"
            continue
        report = host.json("verify", "--json", "--level", level, "--way", "cold", "--only", attacks,
                           seconds=120)
        if report and (report.get("error") or {}).get("code") == "unsupported":
            host.row["levels"][level]["escapes"] = report["error"]["message"]
            continue
        if not report or "rows" not in report:
            host.check("%s: the escape suite runs" % level, False, report)
            continue
        host.row["levels"][level]["escapes"] = report["summary"]
        escaped = [row["attack"] for row in report["rows"] if row["verdict"] == "escaped"]
        host.check("%s: %d attacks are contained" % (level, report["summary"]["attacks"]),
                   not escaped and report["summary"]["contained"] > 0,
                   escaped or report["summary"])


# ---- all of it ----

@contextlib.contextmanager
def planted(host):
    """Create targets for the probe: a secret, a listener, a process and more."""
    libc = ctypes.CDLL(None, use_errno=True)
    name, shm_key = "dewar-hosts-" + uuid.uuid4().hex, uuid.uuid4().int & 0x7fffffff | 1
    secret = host.scratch / "open" / "secret"
    secret.parent.mkdir()
    secret.parent.chmod(0o777)
    secret.write_text("nothing that matters", encoding="utf-8")
    secret.chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local, \
            subprocess.Popen(["sleep", "3600"], start_new_session=True) as witness:
        local.bind("\0" + name)
        local.listen(50)
        shm = libc.shmget(shm_key, 4096, 0o1666)
        try:
            yield {"secret": str(secret), "beside": str(secret.parent / "written"), "name": name,
                   "port": server.getsockname()[1], "pid": witness.pid, "shm": shm_key}
            host.check("the witness is alive", witness.poll() is None)
        finally:
            if shm >= 0:
                libc.shmctl(shm, 0, None)
            witness.kill()


def write_xml(path, row):
    failed = [c for c in row["checks"] if not c["ok"]]
    suite = ElementTree.Element("testsuite", name="hosts " + row["host"],
                                tests=str(len(row["checks"])), failures=str(len(failed)))
    for c in row["checks"]:
        case = ElementTree.SubElement(suite, "testcase", classname=row["host"], name=c["name"])
        if not c["ok"]:
            ElementTree.SubElement(case, "failure", message=c["detail"][:1000])
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def look_at(host, args):
    with planted(host) as targets:
        doctor = ask_doctor(host)
        answers = try_levels(host, doctor, targets)
        check_walls(host, answers)
    compare_rest(host, doctor)
    for level in WALLED:
        if answers.get(level):
            limits.check(host, level)
            check_left(host, level)
    check_escapes(host, args.verify)
    check_all_left(host)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dewar", required=True)
    parser.add_argument("--host", required=True, help="a short name for the table")
    parser.add_argument("--out", required=True)
    parser.add_argument("--xml")
    parser.add_argument("--verify", default=ATTACKS, metavar="LIST")
    parser.add_argument("--slow", type=int, default=1, help="how many times longer all may take")
    args = parser.parse_args()
    host = Host(args)
    with tempfile.TemporaryDirectory(prefix="hosts-", dir="/var/tmp") as folder:
        host.scratch = pathlib.Path(folder)
        host.scratch.chmod(0o755)
        for name in ("tmp", "state", "config"):
            (host.scratch / name).mkdir()
        look_at(host, args)
    row = host.row
    pathlib.Path(args.out).write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    if args.xml:
        write_xml(args.xml, row)
    failed = [c for c in row["checks"] if not c["ok"]]
    print("%s: %d checks, %d failed" % (args.host, len(row["checks"]), len(failed)))
    return 1 if failed or not row["checks"] else 0


if __name__ == "__main__":
    sys.exit(main())
