# SPDX-License-Identifier: Apache-2.0
"""The third part of core.py: each limit that is reported as enforced is exceeded."""

FORKS = """
import os, time
for _ in range(60):
    if os.fork() == 0:
        time.sleep(20); os._exit(0)
time.sleep(20)
"""
BURN = """
import os, time
end, start = time.monotonic() + float(__import__('sys').argv[1]), os.times()
while time.monotonic() < end: pass
now = os.times()
print((now.user + now.system - start.user - start.system) / float(__import__('sys').argv[1]))
"""
BURN_CPU = "import time\nwhile time.process_time() < 30: pass"
FILL = """
for i in range(4):
    with open('/tmp/' + str(i), 'wb') as f: f.write(b'x' * (1 << 20))
print('all written')
"""
OPEN = "import os\nfor _ in range(200): os.dup(0)\nprint('all open')"

# Limit: options, code, and the reason that the result must give.
BITES = {
    "memory": (["--memory", "48M"], "x = b'x' * (150 << 20)\nprint('all there')", "oom"),
    "pids": (["--pids", "12"], FORKS, "pids"),
    "tmp": (["--tmp", "2M"], FILL, "disk"),
    "output": (["--output", "1000"], "print('x' * 100000)\nprint('all out')", "output"),
    "files": (["--files", "40"], OPEN, None),
    # Where cpu time is only summed up, a slow start alone may use one second.
    "timeout": (["--cpus", "2"], "import time; time.sleep(500)", "timeout_wall"),
}


def check(host, level):
    for name, (options, code, reason) in BITES.items():
        limit = host.row["levels"][level]["limits"].get(name)
        if limit is None:
            continue
        if not limit["enforced"]:
            host.check("%s: limit %s: not enforced, and says so" % (level, name), limit["note"],
                       limit)
            continue
        time = ["--timeout", "2s"] if name == "timeout" else host.seconds(15)
        r = host.run(level, code, options=[*time, *options])
        said = (r["reason"], r["hint"], r["stdout"][-40:], r.get("stderr", "")[-80:])
        host.check("%s: limit %s bites (%s)" % (level, name, limit["by"]),
                   r["reason"] == reason if reason else r["exit_code"] and "Errno 24" in r["stderr"],
                   said)
    check_cpu(host, level)
    check_strict(host, level)


def check_cpu(host, level):
    limit = host.row["levels"][level]["limits"].get("cpu")
    if not limit:
        return
    if not limit["enforced"]:
        host.check("%s: limit cpu: not enforced, and says so" % level, limit["note"], limit)
        if limit["by"] == "sampling":
            r = host.run(level, BURN_CPU, options=["--timeout", "%ds" % (20 * host.slow), "--cpus",
                                                   "%g" % round(0.06 / host.slow, 3)])
            host.check("%s: the sum of cpu time bites" % level, r["reason"] == "timeout_cpu",
                       (r["reason"], r["hint"]))
        return
    # A busy host only lowers the share that a run gets, so it causes no failure.
    r = host.run(level, BURN, 1.5, options=[*host.seconds(20), "--cpus", "0.2"])
    got = share(r)
    host.check("%s: limit cpu bites (%s)" % (level, limit["by"]), got is not None and got < 0.45,
               "share %s, %s %s" % (got, r["reason"], r["hint"]))
    host.row["levels"][level]["cpu_share"] = {"asked": 0.2, "got": got,
                                              "control": share(host.run("none", BURN, 1.5))}


def share(r):
    try:
        return float(r["stdout"])
    except ValueError:
        return None


def check_strict(host, level):
    limits = host.row["levels"][level]["limits"]
    loose = [name for name, limit in limits.items() if not limit["enforced"]]
    r = host.run(level, "echo ran", options=["--strict"], language="sh")
    if loose:
        host.check("%s: --strict refuses without: %s" % (level, ", ".join(loose)),
                   r["reason"] == "unavailable" and r["stdout"] == "", (r["reason"], r["hint"]))
    else:
        host.check("%s: --strict runs" % level, r["stdout"] == "ran\n", (r["reason"], r["hint"]))
