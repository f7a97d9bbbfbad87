# SPDX-License-Identifier: Apache-2.0
"""Each level enforces the limits that it promises, and the result names the limit.

Every program here also runs under a generous limit, where it must succeed: a
program that fails by itself would prove nothing.
"""

import pathlib
import re
import time

import pytest

from e2e.helpers import (MARGIN_S, alive, assert_ended, assert_success, brief, fresh_mark,
                         has_cgroups, wait_until)

pytestmark = pytest.mark.privilege

MAN = pathlib.Path(__file__).resolve().parents[2] / "docs" / "man" / "dewar-run.1.scd"
MB = 1 << 20

levels = pytest.mark.parametrize("level", ["container", "process"])


@pytest.fixture(scope="session")
def python(run_json):
    """python(level, code, *options): the result."""

    def run_python(level, code, *options, **kwargs):
        return run_json("--level", level, *options, "python", "-c", code, **kwargs)

    return run_python


# ---- wall clock: each of these runs for the seconds of its argument ----

TAKES_TIME = {
    "busy": "import time\n"
            "while time.monotonic() < start + seconds: pass",
    "sleeping": "time.sleep(seconds)",
    "deaf to SIGTERM": "for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n"
                       "    signal.signal(s, signal.SIG_IGN)\n"
                       "time.sleep(seconds)",
    "stopped": "if os.fork() == 0:\n"
               "    time.sleep(seconds)\n"
               "    os.kill(os.getppid(), signal.SIGCONT)\n"
               "    os._exit(0)\n"
               "os.kill(os.getpid(), signal.SIGSTOP)\n",
}


@levels
@pytest.mark.parametrize("kind", TAKES_TIME)
def test_a_run_past_its_timeout_is_killed(python, level, kind):
    code = ("import os, signal, time\nseconds = %g\nstart = time.monotonic()\n"
            "print('begun', flush=True)\n" + TAKES_TIME[kind])
    started = time.monotonic()
    # Long enough to start on a busy host. --cpus is more than the program can use: where only
    # the cpu time is summed up, a smaller share would end it first.
    r = python(level, code % 60, "--timeout", "1900ms", "--cpus", "2")
    took = time.monotonic() - started
    assert_ended(r, "timeout", "timeout_wall", "1.9 s", "--timeout", "timeout_s")
    assert r["stdout"] == "begun\n", "output from before the deadline is kept"
    assert r["exit_code"] == 128 + 9 and r["signal"] == 9, brief(r)
    assert 1.9 <= took < 1.9 + MARGIN_S
    assert 1000 <= r["execution_time_ms"] <= took * 1000, brief(r)  # without building the cell
    assert_success(python(level, code % 0.5, "--timeout", "20"))


# ---- memory: each of these takes about 100 MB ----
#
# And keeps it for a second: without a cgroup, memory is sampled every few ms, or less often
# on a busy host.

TAKES_MEMORY = {
    "one process": "import time\nx = b'x' * (100 << 20)\ntime.sleep(1)",
    "many processes": """
import os, time
ready, go = os.pipe(), os.pipe()
for _ in range(10):
    if os.fork() == 0:
        os.close(go[1])
        x = b'x' * (10 << 20)
        os.write(ready[1], b'.')
        os.read(go[0], 1)
        os._exit(0)
os.close(ready[1])
got = 0
while got < 10:
    n = len(os.read(ready[0], 10))
    if n == 0: raise SystemExit('a child has died')
    got += n
time.sleep(1)
os.close(go[1])
for _ in range(10): os.wait()
""",
    "a child whose parent does not care": """
import os, time
if os.fork() == 0:
    x = b'x' * (100 << 20)
    time.sleep(1)
    os._exit(0)
os.wait()
""",
    "a mapping that is shared": """
import mmap, time
m = mmap.mmap(-1, 100 << 20)
for at in range(0, len(m), 4096): m[at] = 1
time.sleep(1)
""",
    "a file in memory without a mapping": """
import os, time
f = os.memfd_create('f')
for _ in range(100): os.write(f, b'x' * (1 << 20))
time.sleep(1)
""",
}


@levels
@pytest.mark.parametrize("kind", TAKES_MEMORY)
def test_a_cell_over_its_memory_limit_is_killed(python, level, kind):
    r = python(level, TAKES_MEMORY[kind], "--memory", "48M", "--tmp", "256M")
    assert_ended(r, "resource_exceeded", "oom", "48 MB", "--memory", "memory_mb", "peak")
    assert r["memory_used_mb"] >= 40, brief(r)
    assert_success(python(level, TAKES_MEMORY[kind], "--memory", "512M", "--tmp", "256M"))


@levels
def test_the_memory_limit_also_applies_to_node(run_json, level):
    code = "const a = []; for (let i = 0; i < 50; i++) a.push(Buffer.alloc(8 << 20, 1));"
    r = run_json("--level", level, "--memory", "128M", "javascript", "-c", code)
    assert_ended(r, "resource_exceeded", "oom", "128 MB", "--memory")
    assert_success(run_json("--level", level, "--memory", "1g", "javascript", "-c", code))


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_memory_counts_files_in_tmp(python, folder):
    code = """
import time
with open(%r, 'wb') as f:
    for _ in range(80): f.write(b'x' * (1 << 20))
time.sleep(0.3)
""" % (folder + "/f")
    r = python("container", code, "--memory", "32M", "--tmp", "128M")
    assert_ended(r, "resource_exceeded", "oom", "32 MB", "--memory")
    assert_success(python("container", code, "--memory", "512M", "--tmp", "128M"))


@pytest.mark.core
@levels
def test_memory_used_is_measured(python, level):
    code = "import time; x = b'x' * (50 << 20); time.sleep(0.3)"
    assert 45 <= python(level, code)["memory_used_mb"] <= 120
    # Most pages of a warm program belong to its zygote.
    assert 0.2 <= python(level, "import time; time.sleep(0.3)")["memory_used_mb"] <= 30


@levels
def test_shared_memory_counts_once(python, level):
    code = """
import os, time
x = b'x' * (20 << 20)
for _ in range(8):
    if os.fork() == 0:
        time.sleep(0.3); os._exit(0)
for _ in range(8): os.wait()
"""
    r = python(level, code, "--memory", "200M")
    assert_success(r)
    # Nine times 20 MB and an interpreter each would be 260. Sampling reads one process after
    # the other, and the share of those that end meanwhile is counted for the rest.
    assert 20 <= r["memory_used_mb"] <= 160, brief(r)


# ---- processor ----

def burn(seconds, clock="process_time"):
    return ("import time\nstart = time.%s()\nwhile time.%s() - start < %g: pass"
            % (clock, clock, seconds))


@levels
def test_cpu_used_is_measured(python, level):
    assert 200 <= python(level, burn(0.3))["cpu_time_ms"] <= 800
    child = "import os\nif os.fork() == 0:\n    %s\n    os._exit(0)\nos.wait()" % (
        burn(0.3).replace("\n", "\n    "))
    assert 200 <= python(level, child)["cpu_time_ms"] <= 800
    # Starting takes cpu time, more on a busy host; sleeping takes none.
    assert python(level, "import time; time.sleep(1)")["cpu_time_ms"] <= 500


@levels
def test_the_cpu_limit_slows_the_program_or_ends_it(python, level):
    if has_cgroups():
        cpu_share_is_held(python, level)
    else:
        cpu_time_is_held(python, level)


def cpu_share_is_held(python, level):
    """With a cgroup the program is slowed down."""
    r = python(level, burn(1, "monotonic"), "--cpus", "0.5")
    assert_success(r)
    assert r["proof"]["limits"]["cpu"]["enforced"] is True
    assert r["cpu_time_ms"] <= 800, brief(r)

    # Other processes may keep the host so busy that no run gets more, but not for minutes.
    short = burn(0.5, "monotonic")
    few = python(level, short, "--cpus", "0.1")["cpu_time_ms"]
    wait_until(lambda: python(level, short, "--cpus", "2")["cpu_time_ms"] > 2 * few,
               "a run with more cpu to get more", 180)


def cpu_time_is_held(python, level):
    """Without a cgroup the cpu time is limited to share times timeout, and the proof says so.

    The timeout of twenty seconds suffices to use up that time on a busy host, too.
    """
    r = python(level, burn(5), "--cpus", "0.06", "--timeout", "20")
    assert_ended(r, "timeout", "timeout_cpu", "6 %", "--cpus", "cpu_percent")
    assert 1100 <= r["cpu_time_ms"] <= 2000, brief(r)

    cpu = r["proof"]["limits"]["cpu"]
    assert cpu["asked"] == 6 and cpu["enforced"] is False and cpu["note"], cpu
    assert_success(python(level, burn(1.5), "--cpus", "0.4", "--timeout", "30"))


@levels
def test_cpu_time_of_ended_children_counts(python, level):
    """Thirty children run one after the other for 0.1 s each; one second is allowed."""
    code = "import os\nfor _ in range(30):\n    if os.fork() == 0:\n        %s\n" \
           "        os._exit(0)\n    os.wait()" % burn(0.1).replace("\n", "\n        ")
    if has_cgroups():
        r = python(level, code, "--cpus", "0.4", "--timeout", "2.5")
        assert_ended(r, "timeout", "timeout_wall", "--timeout")
        assert r["cpu_time_ms"] <= 1500, brief(r)
    else:
        r = python(level, code, "--cpus", "0.05", "--timeout", "20")
        assert_ended(r, "timeout", "timeout_cpu", "--cpus")


def test_strict_refuses_a_limit_that_is_not_enforced(run, run_json):
    """Without a cgroup no share is enforced, and level process has no /tmp of its own."""
    r = run_json("--strict", "python", "-c", "print('ran')")
    if has_cgroups():
        assert_success(r)
    else:
        assert_refused(r, "cpu")
        assert run("run", "--strict", "python", "-c", "1").returncode == 125
    assert_refused(run_json("--strict", "--level", "process", "python", "-c", "print('ran')"))


def assert_refused(r, *hint_words):
    assert_ended(r, "error", "unavailable", *hint_words)
    assert r["stdout"] == "" and r["exit_code"] is None, brief(r)
    assert r["metadata"]["ok"] is False


# ---- processes ----

# Each of these tries to have 30 processes at a time; some may fail to start. Where the number
# matters, no process ends before all have started.
TAKES_PIDS = {
    "forks": ("python", """
import os, time
all_there, go = os.pipe()
children = []
for _ in range(29):
    try: pid = os.fork()
    except OSError: continue
    if pid == 0:
        os.close(go); os.read(all_there, 1); os._exit(0)
    children.append(pid)
time.sleep(0.4)
os.close(go)
for pid in children: os.waitpid(pid, 0)
"""),
    "forks that end with the failure": ("python", """
import os, time
for _ in range(29):
    if os.fork() == 0:
        time.sleep(1); os._exit(0)
for _ in range(29): os.wait()
"""),
    "threads": ("python", """
import threading, time
for _ in range(29):
    try: threading.Thread(target=time.sleep, args=(1,)).start()
    except RuntimeError: pass
"""),
    "bash": ("bash", "for i in {1..29}; do sleep 1 & done; wait"),
}


@pytest.mark.nproc
@levels
@pytest.mark.parametrize("kind", TAKES_PIDS)
def test_a_cell_over_its_process_limit_is_killed(run_json, level, kind):
    language, code = TAKES_PIDS[kind]
    r = run_json("--level", level, "--pids", "12", language, "-c", code)
    assert_ended(r, "resource_exceeded", "pids", "limit of 12 ", "--pids", "limits.pids")
    assert_success(run_json("--level", level, "--pids", "200", language, "-c", code))


@pytest.mark.core
@pytest.mark.nproc
@levels
def test_exactly_the_limit_of_processes_is_allowed(run_json, level):
    code = TAKES_PIDS["forks"][1]
    r = run_json("--level", level, "--pids", "31", "python", "-c", code)
    # In a warm cell one process is not the program's, and the proof says so.
    ours = int("one process of Dewar" in (r["proof"]["limits"]["pids"]["note"] or ""))
    assert ours == 0 or r["metadata"]["warm"]
    r = run_json("--level", level, "--pids", str(30 + ours), "python", "-c", code)
    assert_success(r)
    r = run_json("--level", level, "--pids", str(29 + ours), "python", "-c", code)
    assert_ended(r, "resource_exceeded", "pids", "--pids")


@pytest.mark.nproc
@levels
def test_a_fork_bomb_is_killed_and_leaves_no_process(run_json, level):
    mark = fresh_mark()
    r = run_json("--level", level, "--timeout", "5", "bash", "-c", ":(){ :|:& };:; sleep 10",
                 "--", mark)
    assert_ended(r, "resource_exceeded", "pids", "64", "--pids")
    assert alive(mark) == []


# ---- disks ----

@pytest.mark.parametrize("level", ["none", "process", "container"])
def test_the_disk_limit_is_enforced_or_nothing_runs(run_json, level):
    """Where the limit can be enforced, test_cgroup2 measures it."""
    r = run_json("--level", level, "--io", "1M", "python", "-c", "print('ran')")
    if level != "none" and r["status"] == "success":
        limit = r["proof"]["limits"]["io"]
        assert (limit["by"], limit["enforced"]) == ("cgroup2", True), limit
    else:
        assert_ended(r, "error", "unavailable", "io_mbps")
        assert r["stdout"] == "", brief(r)


# ---- files ----

@levels
def test_no_more_files_than_the_limit_can_be_open(python, level):
    code = "f = [open('/dev/null') for _ in range(200)]; print(len(f))"
    r = python(level, code, "--files", "64")
    assert_ended(r, "error", "exit", "--files", "limits.files")
    assert "Errno 24" in r["stderr"]  # EMFILE
    assert_success(python(level, code, "--files", "1024"))


# ---- /tmp ----

@pytest.mark.parametrize("code", [
    pytest.param("open('/tmp/f', 'wb').write(b'x' * (20 << 20))", id="one file"),
    pytest.param("for i in range(20): open('/tmp/f%d' % i, 'wb').write(b'x' * (1 << 20))",
                 id="many files"),
    pytest.param("import tempfile\n"
                 "with tempfile.TemporaryDirectory() as d:\n"
                 "    open(d + '/f', 'wb').write(b'x' * (20 << 20))",
                 id="a file that is removed before the end"),
    pytest.param("import os\nf = os.open('/tmp/f', os.O_CREAT | os.O_RDWR)\n"
                 "os.unlink('/tmp/f')\nn = 20 << 20\n"
                 "while n: n -= os.write(f, b'x' * n)",
                 id="a file without a name"),
    pytest.param("import os\nfor i in range(4000): os.close(os.open('/tmp/%d' % i, os.O_CREAT))",
                 id="inodes"),
    pytest.param("import os\nfor i in range(4000): os.mkdir('/tmp/%d' % i)", id="folders"),
])
def test_writing_beyond_the_size_of_tmp_fails(python, code):
    r = python("container", code, "--tmp", "8M")
    assert_ended(r, "resource_exceeded", "disk", "8 MB", "--tmp", "tmp_mb")
    assert "Errno 28" in r["stderr"]  # ENOSPC: the program gets an error and is not killed
    assert r["exit_code"] == 1 and r["signal"] is None, brief(r)
    assert_success(python("container", code, "--tmp", "64M"))


def test_a_full_tmp_is_not_a_failure_by_itself(python):
    code = "try: open('/tmp/f', 'wb').write(b'x' * (20 << 20))\nexcept OSError as e: print(e)"
    r = python("container", code, "--tmp", "8M")
    assert_success(r)
    assert "No space left" in r["stdout"]


def test_tmp_at_level_process_limits_each_file(python):
    code = "open('f', 'wb').write(b'x' * (20 << 20))"
    r = python("process", code, "--tmp", "8M")
    assert_ended(r, "resource_exceeded", "disk", "8 MB", "--tmp")
    tmp = r["proof"]["limits"]["tmp"]
    assert tmp["enforced"] is False and tmp["kernel"] == 8 * MB and tmp["note"], tmp
    assert_success(python("process", code, "--tmp", "64M"))


# ---- output ----

@pytest.mark.parametrize("level", ["container", "process", "none"])
@pytest.mark.parametrize("stream,fd", [("stdout", 1), ("stderr", 2)])
def test_output_beyond_the_limit_is_cut_off(python, level, stream, fd):
    """Output without a newline, which Python neither buffers nor extends."""
    code = "import os\nos.write(%d, b'x' * %d)"
    r = python(level, code % (fd, 1000), "--output", "1000")
    assert_success(r)
    assert r[stream] == "x" * 1000 and r[stream + "_truncated"] is False

    r = python(level, code % (fd, 1001), "--output", "1000")
    assert_ended(r, "resource_exceeded", "output", "1000 bytes", stream, "--output",
                 "output_bytes")
    assert r[stream] == "x" * 1000 and r[stream + "_truncated"] is True
    other = {"stdout": "stderr", "stderr": "stdout"}[stream]
    assert r[other] == "" and r[other + "_truncated"] is False

    assert_success(python(level, code % (fd, 1001), "--output", "1001"))


@levels
def test_the_output_limit_applies_to_each_stream(python, level):
    code = "import os\nos.write(1, b'x' * 1000); os.write(2, b'y' * 1000)"
    assert_success(python(level, code, "--output", "1000"))


@levels
def test_output_of_many_writes_is_cut_off_at_the_limit(python, level):
    """The limit is reached in the middle of a write and of the pipe's content."""
    code = "import os\nfor _ in range(3000): os.write(1, b'x' * 333)"
    r = python(level, code, "--output", "998999")
    assert_ended(r, "resource_exceeded", "output", "998999", "--output")
    assert len(r["stdout"]) == 998999
    assert_success(python(level, code, "--output", "999000"))


# ---- causes are not confused ----

@pytest.mark.core
@levels
def test_an_oom_is_not_reported_as_a_timeout(python, level):
    code = "import time; x = b'x' * (100 << 20); time.sleep(20)"
    assert_ended(python(level, code, "--memory", "48M", "--timeout", "5"),
                 "resource_exceeded", "oom")


@pytest.mark.core
@levels
def test_a_timeout_is_not_reported_as_an_oom(python, level):
    code = "import time; x = b'x' * (40 << 20); time.sleep(20)"
    assert_ended(python(level, code, "--memory", "64M", "--timeout", "500ms"),
                 "timeout", "timeout_wall")


@levels
@pytest.mark.parametrize("signal", ["KILL", "SEGV", "ABRT", "TERM", "XCPU"])
def test_a_programs_own_signal_is_not_reported_as_a_limit(run_json, level, signal):
    r = run_json("--level", level, "sh", "-c", "kill -%s $$" % signal)
    assert_ended(r, "error", "signal", "SIG" + signal)
    number = {"KILL": 9, "SEGV": 11, "ABRT": 6, "TERM": 15, "XCPU": 24}[signal]
    assert r["signal"] == number and r["exit_code"] == 128 + number, brief(r)


@levels
@pytest.mark.parametrize("code,signal", [
    ("import os; os.abort()", 6),
    ("import ctypes; ctypes.string_at(0)", 11),
])
def test_a_crash_is_not_reported_as_a_limit(python, level, code, signal):
    r = python(level, code)
    assert_ended(r, "error", "signal")
    assert r["signal"] == signal, brief(r)


@levels
def test_a_failing_program_is_not_reported_as_a_limit(python, level):
    r = python(level, "open('f', 'w').write('a'); raise SystemExit(7)")
    assert_ended(r, "error", "exit", "7")
    assert r["exit_code"] == 7 and r["signal"] is None, brief(r)


# ---- the proof ----

ASKED = {"timeout": ("7", 7000), "memory": ("100M", 100 * MB), "cpus": ("0.75", 75),
         "pids": ("33", 33), "files": ("77", 77), "tmp": ("5M", 5 * MB), "output": ("5k", 5120)}


@levels
def test_the_proof_says_what_enforces_each_limit(python, level):
    options = [word for name in ASKED for word in ("--" + name, ASKED[name][0])]
    r = python(level, "import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE)[0])",
               *options)
    assert_success(r)
    limits = r["proof"]["limits"]
    assert sorted(limits) == ["cpu", "files", "memory", "output", "pids", "timeout", "tmp"]
    for name, (_, value) in ASKED.items():
        assert limits[name.replace("cpus", "cpu")]["asked"] == value, name

    assert limits["files"]["kernel"] == 77 == int(r["stdout"])
    held = {name: (limit["enforced"], limit["by"]) for name, limit in limits.items()}
    assert held["timeout"] == held["output"] == (True, "dewar")
    assert held["files"] == (True, "rlimit")
    assert held["tmp"] == ((True, "tmpfs") if level == "container" else (False, "rlimit"))
    assert limits["tmp"]["kernel"] == 5 * MB
    if has_cgroups():
        for name, value in (("memory", 100 * MB), ("cpu", 75), ("pids", 33)):
            assert held[name][0] is True and held[name][1] in ("cgroup1", "cgroup2"), name
            assert limits[name]["kernel"] == value, name
    else:
        assert held["memory"] == (True, "sampling")
        assert held["cpu"] == (False, "sampling")
        assert held["pids"] == (True, "rlimit")
    for name, limit in limits.items():
        assert limit["note"] or (limit["enforced"] and limit["by"] != "sampling"), name


def test_the_proof_of_level_none_says_what_is_not_enforced(python):
    limits = python("none", "print()")["proof"]["limits"]
    assert {name for name, limit in limits.items() if limit["enforced"]} == {"timeout", "output"}


def test_the_defaults_are_as_in_the_man_page(python):
    text = re.sub(r"[*_\s]+", " ", MAN.read_text(encoding="utf-8"))
    page = {
        "timeout": (30000, "30 s by default, and 10 s at level process"),
        "memory": (256 * MB, "256 MB by default"),
        "cpu": (50, "0.5 and 50% are half of one, which is the default"),
        "pids": (64, "Processes and threads at one time; 64 by default"),
        "files": (4096, "4096 by default"),
        "tmp": (64 * MB, "64 MB by default"),
        "output": (1000000, "1,000,000 bytes by default"),
    }
    for level in ("container", "process"):
        limits = python(level, "print()")["proof"]["limits"]
        for name, (value, words) in page.items():
            assert words in text, name
            if (level, name) == ("process", "timeout"):
                value = 10000
            assert limits[name]["asked"] == value, (level, name)
