# SPDX-License-Identifier: Apache-2.0
"""The reason why a run ended, and what it used. Each program also runs under a generous limit."""

import resource
import subprocess
import time

import pytest

from e2e.helpers import MARGIN_S, assert_ended, assert_success, brief, wait_until

RUNC = ("docker", "podman")
WARM = True

# ---- memory ----

TAKES_MEMORY = {
    "one process": "x = b'x' * (150 << 20)",
    "a child whose parent does not care":
        "import os\nif os.fork() == 0:\n    x = b'x' * (150 << 20)\n    os._exit(0)\nos.wait()",
    "a file in tmp": "f = open('/tmp/f', 'wb')\nfor _ in range(150): f.write(b'x' * (1 << 20))",
    "memory that is shared": "import mmap\nm = mmap.mmap(-1, 150 << 20)\n"
                             "for at in range(0, len(m), 4096): m[at] = 1",
}


@pytest.mark.parametrize("kind", TAKES_MEMORY)
def test_a_container_over_its_memory_limit_is_killed(engine, kind):
    # gVisor itself needs more than 100 MB.
    r = engine.python(TAKES_MEMORY[kind], "--memory", "112M", "--tmp", "256M")
    assert_ended(r, "resource_exceeded", "oom", "112 MB", "--memory", "memory_mb")
    assert r["memory_used_mb"] is None or r["memory_used_mb"] >= 100, brief(r)
    assert_success(engine.python(TAKES_MEMORY[kind], "--memory", "512M", "--tmp", "256M"))


# ---- time ----

@pytest.mark.parametrize("code", [
    pytest.param("while True: pass", id="busy"),
    pytest.param("import time; time.sleep(60)", id="sleeping"),
    pytest.param("import signal, time\nfor s in range(1, 32):\n    try: signal.signal(s, "
                 "signal.SIG_IGN)\n    except (OSError, ValueError): pass\ntime.sleep(60)",
                 id="deaf"),
    pytest.param("import os, time\nfor _ in range(5):\n    if os.fork() == 0: os.setsid()\n"
                 "time.sleep(60)", id="many"),
])
def test_a_run_past_its_timeout_is_killed(engine, code):
    started = time.monotonic()
    r = engine.python("print('begun', flush=True)\n" + code, "--timeout", "4s", "--pids", "1000")
    took = time.monotonic() - started
    assert_ended(r, "timeout", "timeout_wall", "--timeout", "timeout_s")
    assert r["stdout"] == "begun\n", brief(r)
    assert (r["exit_code"], r["signal"]) == (137, 9), brief(r)
    assert took < 4 + 3 * MARGIN_S


# ---- output ----

@pytest.mark.parametrize("stream, fd", [("stdout", 1), ("stderr", 2)])
def test_output_beyond_the_limit_is_cut_off(engine, stream, fd):
    code = "import os\nos.write(%d, b'x' * %d)"
    r = engine.python(code % (fd, 1001), "--output", "1000")
    assert_ended(r, "resource_exceeded", "output", "1000 bytes", stream, "--output")
    assert r[stream] == "x" * 1000 and r[stream + "_truncated"] is True
    r = engine.python(code % (fd, 1000), "--output", "1000")
    assert_success(r)
    assert r[stream] == "x" * 1000 and r[stream + "_truncated"] is False


@pytest.mark.engines(*RUNC)
def test_a_flood_of_output_is_cut_off(engine):
    started = time.monotonic()
    r = engine.json("sh", "-c", "yes & yes >&2", "--output", "100k")
    assert_ended(r, "resource_exceeded", "output")
    assert len(r["stdout"]) <= 100 << 10 and len(r["stderr"]) <= 100 << 10
    assert time.monotonic() - started < 20


# ---- processes ----

FORKS = """
import os
all_there, go = os.pipe()
children = []
for _ in range(29):
    try: pid = os.fork()
    except OSError: continue
    if pid == 0:
        os.close(go); os.read(all_there, 1); os._exit(0)
    children.append(pid)
os.close(go)
for pid in children: os.waitpid(pid, 0)
"""


@pytest.mark.engines(*RUNC)
def test_a_container_over_its_process_limit_is_killed(engine):
    r = engine.python(FORKS, "--pids", "12")
    assert_ended(r, "resource_exceeded", "pids", "12", "--pids", "limits.pids")
    assert_success(engine.python(FORKS, "--pids", "200"))


@pytest.mark.engines(*RUNC)
def test_the_limit_of_pids_excludes_dewars_own_processes(engine):
    """Dewar's own processes in the container do not count."""
    r = engine.python(FORKS, "--pids", "30")
    assert_success(r)
    assert_ended(engine.python(FORKS, "--pids", "29"), "resource_exceeded", "pids")


def test_a_fork_bomb_is_killed(engine):
    started = time.monotonic()
    r = engine.json("--timeout", "10", "bash", "-c", ":(){ :|:& };:; sleep 20")
    if engine.runtime:  # sometimes gVisor itself is killed
        assert r["reason"] in ("pids", "timeout_wall", "internal"), brief(r)
    else:
        assert_ended(r, "resource_exceeded", "pids", "--pids")
    assert time.monotonic() - started < 10 + 3 * MARGIN_S


# ---- /tmp and open files ----

FILLS = {
    "one file": "open('/tmp/f', 'wb').write(b'x' * (20 << 20))",
    "many files": "for i in range(20): open('/tmp/f%d' % i, 'wb').write(b'x' * (1 << 20))",
}


@pytest.mark.parametrize("kind", FILLS)
def test_writing_beyond_the_size_of_tmp_fails(engine, kind):
    r = engine.python(FILLS[kind], "--tmp", "8M")
    assert_ended(r, "resource_exceeded", "disk", "8 MB", "--tmp", "tmp_mb")
    assert "Errno 28" in r["stderr"] and r["exit_code"] == 1, brief(r)
    assert_success(engine.python(FILLS[kind], "--tmp", "64M"))


@pytest.mark.engines(*RUNC)
def test_the_number_of_files_in_tmp_is_limited(engine):
    code = "import os\nfor i in range(9000): os.close(os.open('/tmp/%d' % i, os.O_CREAT))"
    r = engine.python(code, "--tmp", "8M")
    if engine.name == "podman":  # has no such option, and the proof says so
        assert "not the number of files" in r["proof"]["limits"]["tmp"]["note"], brief(r)
    else:
        assert_ended(r, "resource_exceeded", "disk", "--tmp")
        assert r["proof"]["limits"]["tmp"]["note"] is None, r["proof"]["limits"]
    assert_success(engine.python(code, "--tmp", "64M"))


def test_no_more_files_than_the_limit_can_be_open(engine):
    code = "f = [open('/dev/null') for _ in range(200)]"
    r = engine.python(code, "--files", "64")
    assert_ended(r, "error", "exit", "--files", "limits.files")
    assert "Errno 24" in r["stderr"]
    assert_success(engine.python(code, "--files", "1024"))


# ---- signals, and exit codes that look like signals ----

@pytest.mark.engines(*RUNC)
@pytest.mark.parametrize("signal, number", [("KILL", 9), ("SEGV", 11), ("ABRT", 6), ("TERM", 15)])
def test_a_programs_own_signal_is_not_reported_as_a_limit(engine, signal, number):
    r = engine.json("sh", "-c", "kill -%s $$" % signal)
    assert_ended(r, "error", "signal", "SIG" + signal)
    assert (r["signal"], r["exit_code"]) == (number, 128 + number), brief(r)


@pytest.mark.engines(*RUNC)
def test_an_oom_is_reported_neither_as_a_timeout_nor_as_a_signal(engine):
    code = "import time; x = b'x' * (150 << 20); time.sleep(30)"
    assert_ended(engine.python(code, "--memory", "64M", "--timeout", "15"),
                 "resource_exceeded", "oom")
    code = "import time; x = b'x' * (30 << 20); time.sleep(30)"
    assert_ended(engine.python(code, "--memory", "128M", "--timeout", "2s"),
                 "timeout", "timeout_wall")


@pytest.mark.engines(*RUNC)
def test_the_program_is_not_the_first_process(engine):
    """The kernel ignores most signals to pid 1, and pid 1 would have to reap orphans."""
    r = engine.json("python", "-c", "import os; print(os.getpid() != 1)")
    assert r["stdout"] == "True\n", brief(r)


# ---- resource usage ----

def burn(seconds):
    return ("import time\nstart = time.process_time()\n"
            "while time.process_time() - start < %g: pass" % seconds)


@pytest.mark.engines(*RUNC)
def test_cpu_time_is_measured(engine):
    assert 250 <= engine.python(burn(0.3), "--cpus", "2")["cpu_time_ms"] <= 900
    assert engine.python("import time; time.sleep(1)", "--cpus", "2")["cpu_time_ms"] <= 600


@pytest.mark.engines(*RUNC)
def test_memory_is_measured(engine):
    used = engine.python("x = b'x' * (50 << 20)")["memory_used_mb"]
    assert 50 <= used <= 150
    assert engine.python("pass")["memory_used_mb"] < 50


@pytest.mark.engines(*RUNC)
def test_the_cpu_limit_slows_the_program(engine):
    code = ("import time\nstart = time.monotonic()\n"
            "while time.monotonic() - start < 1: pass")
    r = engine.python(code, "--cpus", "0.5")
    assert_success(r)
    assert r["cpu_time_ms"] <= 900, brief(r)
    # Other programs may keep the host so busy that no run gets more, but not for minutes.
    few = engine.python(code, "--cpus", "0.1")["cpu_time_ms"]
    wait_until(lambda: engine.python(code, "--cpus", "2")["cpu_time_ms"] > 2 * few,
               "a run with more cpu to get more", 180)


@pytest.mark.engines("docker+runsc")
def test_gvisors_measurements_are_not_those_of_the_host(engine):
    # A fixed amount of work: gVisor's own clocks go by the wall clock where the host is busy.
    work = "for i in range(8000000): pass"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(["/usr/bin/python3", "-I", "-c", work], check=True)
    bare_ms = 1000 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    r = engine.python(work, "--cpus", "2")
    assert r["cpu_time_ms"] is None or bare_ms / 2 <= r["cpu_time_ms"] <= 6000, brief(r)
    assert r["memory_used_mb"] is None or 1 <= r["memory_used_mb"] <= 256, brief(r)
