# SPDX-License-Identifier: Apache-2.0
"""Misbehaving programs get a clear result by their deadline, and leave nothing behind."""

import concurrent.futures
import itertools
import json
import os
import signal
import subprocess
import time

import pytest

from e2e.helpers import (MARGIN_S, alive, assert_ended, assert_gone, assert_nothing_left,
                         assert_success, brief, children_of, fresh_mark, name_of, wait_until)

pytestmark = [pytest.mark.cold, pytest.mark.privilege]

levels = pytest.mark.parametrize("level", ["container", "process"])


# ---- code ----

CODE = {
    "0 bytes": (b"", "success", ""),
    "10 MB": (b"#" * 79 + b"\n", "success", "end\n"),
    "10 MB in one line": (b"x = '" + b"a" * 10_000_000 + b"'\nprint(len(x))\n", "success",
                          "10000000\n"),
    "NUL bytes": (b"print(1)\0\nprint(2)\n", "error", ""),
    "invalid UTF-8": (b"print('\xff\xfe')\n", "error", ""),
    "invalid UTF-8 that is declared": (b"# coding: latin-1\nprint(ord('\xff'))\n", "success",
                                       "255\n"),
}
CODE["10 MB"] = (CODE["10 MB"][0] * 131072 + b"print('end')\n", "success", "end\n")


@levels
@pytest.mark.parametrize("way", ["file", "stdin", "request"])
@pytest.mark.parametrize("kind", CODE)
def test_code_of_any_shape_runs_or_is_reported(run_json, tmp_path, level, way, kind):
    code, status, stdout = CODE[kind]
    if way == "file":
        (tmp_path / "code").write_bytes(code)
        r = run_json("--level", level, "python", tmp_path / "code")
    elif way == "stdin":
        r = run_json("--level", level, "python", "-", input=code)
    else:
        request = {"language": "python", "level": level}
        try:
            request["code"] = code.decode()
        except UnicodeDecodeError:
            # JSON cannot represent these bytes unchanged.
            text = json.dumps({**request, "code": "CODE"}).encode().replace(b"CODE", code)
            r = run_json("--request", "-", input=text)
            assert set(r) == {"error"} and r["error"]["code"] == "invalid", r
            return
        r = run_json("--request", "-", input=json.dumps(request).encode())
    assert (r["status"], r["reason"], r["stdout"]) == (status, "exit", stdout), brief(r)


@levels
def test_code_with_nuls_reaches_the_program_whole(run_json, tmp_path, level):
    (tmp_path / "code").write_bytes(b"echo a\nexit\n\0\xff\0rest")
    r = run_json("--level", level, "sh", tmp_path / "code")
    assert r["stdout"] == "a\n", brief(r)


# ---- output ----

@levels
@pytest.mark.parametrize("stream,fd", [("stdout", 1), ("stderr", 2)])
@pytest.mark.parametrize("data,text", [
    pytest.param(b"\0a\0" * 100, "\0a\0" * 100, id="NULs"),
    pytest.param(b"a\xffb\xc3(\xed\xa0\x80c", None, id="invalid UTF-8"),
    pytest.param(b"caf\xc3", "caf\ufffd", id="half a character"),
    pytest.param(b"no newline", "no newline", id="no newline"),
    pytest.param(b"\x1b[2J\x07\x08\x7f\r", "\x1b[2J\x07\x08\x7f\r", id="controls"),
    pytest.param("\u2028\U0001f600\ufeff\uffff".encode(), "\u2028\U0001f600\ufeff\uffff",
                 id="strange characters"),
    pytest.param(b'"}\\u0000\\"', '"}\\u0000\\"', id="looks like JSON"),
])
def test_any_output_bytes_become_valid_text(run, run_json, level, stream, fd, data, text):
    code = "import os; os.write(%d, %r)" % (fd, data)
    r = run_json("--level", level, "python", "-c", code)
    assert_success(r)
    if text is None:
        assert r[stream].startswith("a\ufffdb\ufffd(") and r[stream].endswith("\ufffdc"), r[stream]
    else:
        assert r[stream] == text

    # Without --json every byte passes as it is.
    done = run("run", "--level", level, "python", "-c", code)
    assert (done.stdout, done.stderr)[fd - 1] == data


@levels
@pytest.mark.parametrize("newline", [True, False])
def test_output_of_a_gigabyte(run, run_json, level, newline):
    code = ("import os\nline = b'x' * 65535 + %r\n"
            "for _ in range(16384): os.write(1, line)" % (b"\n" if newline else b"x"))
    r = run_json("--level", level, "python", "-c", code)
    assert_ended(r, "resource_exceeded", "output", "1000000", "--output")
    assert len(r["stdout"]) == 1000000 and r["stdout_truncated"] is True

    done = run("run", "--level", level, "python", "-c", code)
    assert len(done.stdout) == 1000000 and done.returncode == 137


def test_output_cut_within_a_character(run_json):
    r = run_json("--output", "5", "python", "-c", "import os; os.write(1, 'éééé'.encode())")
    assert_ended(r, "resource_exceeded", "output")
    assert r["stdout"] == "éé\ufffd"


# ---- behaviour ----

DETACHED = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        %s
        sys.stdout.write('detached\\n'); sys.stdout.flush()
        time.sleep(600)
    os._exit(0)
os.wait()
"""
CLOSES_STDIO = "for fd in (0, 1, 2): os.close(fd)"
STAYS = "import os, signal, sys, time\n%s\ntime.sleep(600)"
DEAF = """
import signal, time
for s in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(s, signal.SIG_IGN)
time.sleep(600)
"""
# At most a few orphans wait for init at a time, because init is scheduled late on a busy host.
ORPHANS = """
import os, time
def is_there(pid):
    try: os.kill(pid, 0)
    except ProcessLookupError: return False
    return True
tell = os.pipe()
unreaped = []
for _ in range(300):
    if os.fork() == 0:
        pid = os.fork()
        if pid: os.write(tell[1], b'%9d' % pid)
        os._exit(0)
    os.wait()
    unreaped.append(int(os.read(tell[0], 9)))
    while len(unreaped) > 8:
        time.sleep(0.001)
        unreaped = [pid for pid in unreaped if is_there(pid)]
"""

# name: (language, code, accepted pairs of status and reason)
OK, TIMEOUT = ("success", "exit"), ("timeout", "timeout_wall")
PIDS, KILLED = ("resource_exceeded", "pids"), ("error", "signal")
FAILED, DISK = ("error", "exit"), ("resource_exceeded", "disk")
BAD = {
    "closes its stdio": ("python", "import os\n" + CLOSES_STDIO, [OK]),
    "closes its stdio and stays": ("python", STAYS % CLOSES_STDIO, [TIMEOUT]),
    "closes its stdio and fails": ("sh", "exec 0<&- 1>&- 2>&-; exit 3", [FAILED]),
    "closes every descriptor": ("python", "import os; os.closerange(0, 4096); os._exit(0)", [OK]),
    "detaches": ("python", DETACHED % "pass", [OK]),
    "detaches without stdio": ("python", DETACHED % "os.closerange(0, 3); time.sleep(600)", [OK]),
    "detaches and outlives": ("python", DETACHED % "pass" + "time.sleep(600)", [TIMEOUT]),
    "leaves children with the pipes": ("bash", "for i in 1 2 3; do sleep 600 & done", [OK]),
    "leaves a child that writes": ("bash", "(while :; do echo x; sleep 0.01; done) &", [OK]),
    "leaves a deaf child": ("bash", "(trap '' TERM HUP INT; sleep 600) & exit 3", [FAILED]),
    "is deaf": ("python", DEAF, [TIMEOUT]),
    "stops itself": ("sh", "kill -STOP $$; sleep 600", [TIMEOUT]),
    "stops its group": ("sh", "kill -STOP 0; sleep 600", [TIMEOUT]),
    "leaves a stopped child": ("bash", "sleep 600 & kill -STOP $!", [OK]),
    "fills /tmp": ("sh", "while echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; do :; done > $TMPDIR/f",
                   [OK, TIMEOUT, DISK]),
    "fills /tmp at once": ("python", "f = open('f', 'wb')\nwhile 1: f.write(bytes(1 << 20))",
                           [DISK]),
    "makes deep folders": ("python", "import os\n"
                           "for i in range(500): os.mkdir('d' * 200); os.chdir('d' * 200)", [OK]),
    "locks its folders": ("python", "import os\nos.makedirs('a/b/c'); open('a/b/c/f', 'w')\n"
                          "os.chmod('a/b', 0); os.chmod('a', 0)", [OK]),
    "bombs with forks": ("bash", ":(){ :|:& };:; sleep 600", [PIDS]),
    "bombs with forks in python": ("python", "import os\nwhile 1:\n"
                                   "    try: os.fork()\n    except OSError: pass", [PIDS]),
    "bombs with forks that end": ("python", "import os\nwhile 1:\n    try:\n"
                                  "        if os.fork(): os._exit(0)\n    except OSError: pass",
                                  [OK]),
    "bombs with threads": ("python", "import threading, time\nwhile 1:\n    try:"
                           " threading.Thread(target=time.sleep, args=(600,)).start()\n"
                           "    except RuntimeError: pass", [PIDS]),
    "kills init": ("python", STAYS % "import contextlib\n"
                   "for s in set(signal.Signals):\n"
                   "    with contextlib.suppress(OSError): os.kill(os.getppid(), s)\n"
                   "os._exit(5)", [FAILED]),
    "kills itself": ("sh", "kill -KILL $$", [KILLED]),
    "asks itself to end": ("python", "import os; os.kill(os.getpid(), 15)", [KILLED]),
    "aborts": ("python", "import os; os.abort()", [KILLED]),
    "crashes": ("python", "import ctypes; ctypes.string_at(0)", [KILLED]),
    "leaves orphans": ("python", ORPHANS, [OK]),
    "floods both streams": ("bash", "yes & yes >&2", [("resource_exceeded", "output")]),
    "never reads its input": ("sh", "sleep 600", [TIMEOUT]),
}


def run_bad(run, level, kind, mark, **kwargs):
    """Run one of BAD and return its result; fails if it was late or left a process."""
    language, code, right = BAD[kind]
    timeout = 0.4 if right == [TIMEOUT] else 15
    started = time.monotonic()
    done = run("run", "--json", "--level", level, "--timeout", str(timeout), "--tmp", "8M",
               language, "-c", code, "--", mark, **kwargs)
    took = time.monotonic() - started
    result = json.loads(done.stdout.decode("utf-8"))
    assert took < timeout + MARGIN_S, "%s at %s took %.1f s" % (kind, level, took)
    assert done.stderr == b"" and done.returncode == result["exit_code"], done
    assert result["metadata"]["ok"] is True, brief(result)
    assert alive(mark) == [], "%s at %s lives on" % (kind, level)
    assert_gone(result)
    return result


@levels
@pytest.mark.parametrize("kind", [
    pytest.param(kind, marks=pytest.mark.nproc) if "bombs" in kind or "orphans" in kind else kind
    for kind in BAD])
def test_a_bad_program_ends_with_its_reason_and_leaves_nothing(run, host_snapshot, level, kind):
    before = host_snapshot()
    result = run_bad(run, level, kind, fresh_mark())
    assert (result["status"], result["reason"]) in BAD[kind][2], brief(result)
    assert (result["hint"] is None) == (result["status"] == "success"), brief(result)
    assert_nothing_left(host_snapshot, before)


def test_bad_program_with_a_flood_of_input(run):
    result = run_bad(run, "container", "never reads its input", fresh_mark(),
                     input=b"x" * (8 << 20))
    assert (result["status"], result["reason"]) == TIMEOUT, brief(result)


def test_killing_all_processes_spares_init_and_the_host(run_json):
    """kill(-1) at level container reaches only the cell, and the result is still reported."""
    witness = subprocess.Popen(["sleep", "60"])
    try:
        r = run_json("--timeout", "5", "python", "-c",
                     "import os, signal\nif os.fork() == 0:\n    signal.pause()\n"
                     "os.kill(-1, signal.SIGKILL)\nos._exit(4)")
        # kill(-1) does not signal the process that calls it.
        assert_ended(r, "error", "exit")
        assert r["exit_code"] == 4 and witness.poll() is None, brief(r)
    finally:
        witness.kill()
        witness.wait()


@pytest.mark.nproc
@levels
def test_orphans_are_reaped(run_json, level):
    """Otherwise the limit of pids would be reached long before the last orphan."""
    r = run_json("--level", level, "--pids", "20", "python", "-c", ORPHANS + """
def zombies():
    count = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try: stat = open('/proc/%s/stat' % pid).read()
        except OSError: continue
        state, ppid = stat[stat.rindex(')') + 2:].split()[:2]
        count += state == 'Z' and int(ppid) == os.getppid()
    return count
deadline = time.monotonic() + 5
while zombies() and time.monotonic() < deadline: pass
print(zombies())
""")
    assert_success(r)
    assert r["stdout"] == "0\n"


@levels
@pytest.mark.parametrize("code,end", [
    pytest.param("sleep 600 & exit 3", ("error", "exit", 3), id="ends"),
    pytest.param("kill -KILL $$", ("error", "signal", 137), id="kills itself"),
    pytest.param("yes & yes >&2", ("resource_exceeded", "output", 137), id="floods"),
    pytest.param("ulimit -n 10; exit 3", ("error", "exit", 3), id="changes its limits"),
])
def test_a_program_that_ends_at_once(run_json, level, code, end):
    """Even if it ends within milliseconds, the result contains its end and its walls."""
    def once(_):
        r = run_json("--level", level, "--timeout", "20", "sh", "-c", code)
        walls = r["proof"]["walls"]
        return (r["status"], r["reason"], r["exit_code"], r["metadata"]["ok"],
                walls and walls["seccomp"]["mode"], r["proof"]["limits"]["files"]["kernel"])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert set(pool.map(once, range(60))) == {(*end, True, 2, 4096)}


# ---- 200 of them ----

@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.nproc
def test_200_bad_programs_leave_nothing_behind(run, host_snapshot):
    """Four at a time: the load of one must not make another fail."""
    before = host_snapshot()
    descriptors = len(os.listdir("/proc/self/fd"))
    jobs = list(itertools.islice(itertools.cycle(itertools.product(BAD, ("container", "process"))),
                                 200))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        marks = [fresh_mark() for _ in jobs]
        results = list(pool.map(lambda job, mark: run_bad(run, job[1], job[0], mark),
                                jobs, marks))
    assert len({r["id"] for r in results}) == 200
    assert all(r["status"] in ("success", "error", "timeout", "resource_exceeded")
               for r in results)
    assert [mark for mark in marks if alive(mark)] == []
    assert_nothing_left(host_snapshot, before)
    assert len(os.listdir("/proc/self/fd")) == descriptors


# ---- the end of dewar itself ----

BUSY_CELL = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('ready', flush=True)  # before the forks: when there are three processes, it was printed
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(600)
    time.sleep(600)
time.sleep(600)
"""


@pytest.fixture
def busy_cell(dewar):
    """busy_cell(*options): dewar with a cell of three processes, and their mark."""
    started = []

    def start(*options, **kwargs):
        mark = fresh_mark()
        process = subprocess.Popen(
            [dewar, "run", *options, "python", "-c", BUSY_CELL, "--", mark],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
        started.append(process)
        wait_until(lambda: len(alive(mark)) >= 3, "the cell to be busy")
        return process, mark

    yield start
    for process in started:
        process.kill()
        process.communicate()


@levels
def test_killing_dewar_ends_its_cell(busy_cell, level):
    process, mark = busy_cell("--level", level)
    process.kill()
    process.wait()
    wait_until(lambda: not alive(mark), "the cell to end")


@levels
def test_killing_dewars_process_group_ends_its_cell(busy_cell, level):
    """`timeout -s KILL` and most job runners kill the whole process group."""
    process, mark = busy_cell("--level", level, start_new_session=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    try:
        wait_until(lambda: not alive(mark), "the cell to end", MARGIN_S)
    finally:
        for pid in alive(mark):
            os.kill(pid, signal.SIGKILL)


@levels
def test_the_next_run_cleans_up_after_a_killed_dewar(busy_cell, run, host_snapshot, level):
    """Cgroups and folders of a killed dewar are removed by the next run."""
    before = host_snapshot()
    process, mark = busy_cell("--level", level)
    process.kill()
    process.wait()
    wait_until(lambda: not alive(mark), "the cell to end")
    process.communicate()
    assert run("run", "--level", level, "sh", "-c", ":").returncode == 0
    assert_nothing_left(host_snapshot, before)


@levels
def test_a_stopped_dewar_does_not_delay_the_deadline(busy_cell, level):
    """Init enforces the deadline as well."""
    process, mark = busy_cell("--level", level, "--timeout", "3")
    process.send_signal(signal.SIGSTOP)
    wait_until(lambda: not alive(mark), "the cell to end")
    process.send_signal(signal.SIGCONT)
    assert process.wait(MARGIN_S) == 137


@levels
def test_no_process_survives_while_init_is_stopped(busy_cell, level):
    """Init may be delayed on a busy host: dewar waits only briefly, then kills all processes."""
    process, mark = busy_cell("--level", level, "--timeout", "3")
    init = [pid for pid in children_of(process.pid) if name_of(pid) == "dewar-launch"]
    assert init
    for pid in init:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert process.wait(3 + MARGIN_S) == 137
        wait_until(lambda: not alive(mark), "the cell to end", MARGIN_S)
    finally:
        for pid in alive(mark):
            os.kill(pid, signal.SIGKILL)


@levels
@pytest.mark.parametrize("name,status", [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_interrupting_dewar_ends_the_cell(busy_cell, host_snapshot, level, name, status):
    before = host_snapshot()
    process, mark = busy_cell("--level", level)
    process.send_signal(getattr(signal, name))
    stdout, _ = process.communicate(timeout=MARGIN_S)
    assert process.returncode == status
    assert stdout == b"ready\n"
    assert alive(mark) == []
    assert_nothing_left(host_snapshot, before)


def test_an_interrupt_with_json_still_prints_the_result(busy_cell):
    process, _ = busy_cell("--json")
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=MARGIN_S)
    r = json.loads(stdout)
    assert process.returncode == 130
    assert_ended(r, "error", "cancelled")


def test_a_closed_output_pipe_ends_the_run(dewar):
    mark = fresh_mark()
    process = subprocess.Popen([dewar, "run", "sh", "-c", "while echo x; do sleep 0.01; done",
                                "--", mark], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    wait_until(lambda: alive(mark), "the cell")
    process.stdout.close()
    assert process.wait(MARGIN_S) == 141
    assert alive(mark) == []
    process.stderr.close()
