# SPDX-License-Identifier: Apache-2.0
"""Regression tests: each of these attacks once succeeded."""

import os
import subprocess
import tempfile

import pytest

pytestmark = pytest.mark.privilege

HOST_LOADER = "/sys/../lib64/ld-linux-x86-64.so.2"


def compile_c(folder, code, *flags):
    source = folder / "p.c"
    source.write_text(code, encoding="utf-8")
    program = folder / "program"
    subprocess.run(["gcc", "-w", "-o", program, source, *flags], check=True)
    os.chmod(folder, 0o755)
    return program


@pytest.mark.parametrize("second", ["process", "none"])
def test_a_failing_exec_does_not_select_the_next_level(run_json, tmp_path, second):
    """The program's loader exists on the host but not in the cell, so exec fails in the cell."""
    program = compile_c(tmp_path, '#include <stdio.h>\nint main(void) { puts("ran"); }',
                        f"-Wl,--dynamic-linker={HOST_LOADER}")
    control = run_json("--level", second, program)
    assert control["stdout"] == "ran\n", "without the wall it works"
    result = run_json("--level", f"container,{second}", program)
    assert result["stdout"] == "" and result["metadata"]["ok"] is False
    assert result["reason"] == "unavailable"


@pytest.mark.parametrize("what", [
    "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))",
    "os.sched_setaffinity(1, {0})",
    "os.sched_setscheduler(1, os.SCHED_BATCH, os.sched_param(0))",
    "os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "os.setpriority(os.PRIO_USER, 0, 19)",
])
def test_a_program_cannot_access_init(run_json, what):
    own = what.replace("(1,", "(0,").replace("(os.PRIO_PROCESS, 1,", "(os.PRIO_PROCESS, 0,")
    if own != what:  # the control: a program may do this to itself
        control = run_json("python", "-c", "import os, resource\n" + own.replace(
            "(0, 0)", "(64, 64)"))
        assert control["status"] == "success", control
    result = run_json("python", "-c", "import os, resource\n" + what)
    assert "PermissionError" in result["stderr"], result


def test_memory_of_a_process_without_its_first_thread_counts(run_json, tmp_path):
    program = compile_c(tmp_path, r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *hold(void *arg)
{
	for (int i = 0; i < 30; i++) {
		memset(malloc(10 << 20), 1, 10 << 20);
		usleep(5000);
	}
	usleep(500000); /* long enough to be sampled */
	_exit(puts("held") < 0);
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, hold, 0);
	syscall(SYS_exit, 0);
}
""", "-static", "-pthread")
    result = run_json("--memory", "64M", program)
    assert result["reason"] == "oom", result
    assert run_json("--memory", "600M", program)["status"] == "success"


def test_a_link_in_the_workspace_is_detected_in_any_spelling(run, tmp_path):
    workspace, victim, alias = tmp_path / "p" / "ws", tmp_path / "victim", tmp_path / "alias"
    workspace.mkdir(parents=True)
    victim.mkdir()
    (victim / "secret").write_text("secret", encoding="utf-8")
    (workspace / "out").symlink_to(victim)
    (workspace / "plain").mkdir()
    alias.symlink_to(tmp_path / "p")
    for ws, writable in [
            (workspace, f"{tmp_path}//p/ws/out"), (workspace, f"{tmp_path}/./p/ws/out"),
            (alias / "ws", f"{alias}/ws/out"), (workspace, f"{alias}/ws/out"),
            (workspace, f"{workspace}/out/")]:
        done = run("exec", "--workspace", ws, "--writable", writable, f"cat {victim}/secret")
        assert done.returncode == 125 and b"secret" not in done.stdout, (writable, done)
        # The control: a folder in its place, spelled in the same way, is accepted.
        writable = writable.replace("/out", "/plain")
        done = run("exec", "--workspace", ws, "--writable", writable, "echo ran")
        assert done.stdout == b"ran\n", (writable, done)


def test_a_link_in_an_image_creates_nothing_on_the_host(run, tmp_path):
    """The path of a writable folder contains a link of the image, met while the cell is built."""
    program = compile_c(tmp_path, "int main(void) { return 0; }", "-static")
    image = tmp_path / "image"
    image.mkdir()
    # The cell's own id could enter and write to this folder, if it could reach it.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        evil, out = os.path.join(folder, "evil"), os.path.join(folder, "out")
        os.mkdir(out)
        os.mkdir(evil)
        os.chmod(evil, 0o777)
        control = run("run", "--image", image, "--writable", out, program)
        assert control.returncode == 0, control
        (image / "var").symlink_to(evil)
        run("run", "--image", image, "--writable", out, program)
        assert os.listdir(evil) == []


def test_init_is_not_dumpable_before_the_program_starts(run_json):
    """Files in /proc of a process that is not dumpable belong to user nobody (65534); those of
    the program itself are the control."""
    code = "import os; print([os.stat('/proc/%s/fd' % p).st_uid for p in (1, 'self')])"
    for _ in range(20):
        assert run_json("python", "-c", code)["stdout"] == "[65534, 1000]\n"


def test_no_mount_of_a_cell_honours_set_id(run_json):
    mounts = run_json("python", "-c", "print(open('/proc/self/mountinfo').read())")["stdout"]
    options = {line.split()[4]: line.split()[5].split(",") for line in mounts.split("\n") if line}
    assert {"/", "/usr", "/tmp", "/proc", "/dev/shm", "/dev/null"} <= set(options)
    assert [path for path, opts in options.items() if "nosuid" not in opts] == []
    assert [path for path, opts in options.items()
            if "nodev" not in opts and not path.startswith("/dev/")] == []


def test_short_lived_processes_do_not_count_as_over_the_limit(run_json):
    """An ending process shows no descriptors; init once counted it as over the limit of files."""
    result = run_json("--cpus", "2", "bash", "-c",
                      "for i in $(seq 1 500); do /bin/true; done; echo fine")
    assert (result["reason"], result["stdout"]) == ("exit", "fine\n")
