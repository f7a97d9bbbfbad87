# SPDX-License-Identifier: Apache-2.0
"""Input and output of a container: all bytes, without delay, in separate streams."""

import base64
import hashlib
import json
import os
import subprocess

import pytest

from e2e.helpers import assert_ended, assert_success, brief

RESULT = {"id", "status", "reason", "hint", "exit_code", "signal", "stdout", "stderr",
          "stdout_truncated", "stderr_truncated", "results", "files", "execution_time_ms",
          "cpu_time_ms", "memory_used_mb", "warnings", "findings", "proof",
          "metadata"}


def test_the_streams_are_kept_apart(engine):
    code = "import sys\nfor i in range(50): print(i); print(-i, file=sys.stderr)"
    done = engine.run("python", "-c", code)
    assert done.returncode == 0
    assert done.stdout.split() == [b"%d" % i for i in range(50)]
    assert done.stderr.split() == [b"%d" % -i for i in range(50)]


def test_output_arrives_as_it_is_written(engine):
    """Each line arrives before the program gets the input that lets it write the next."""
    code = ("import sys\nsys.stdout.write('p> '); sys.stdout.flush()\n"
            "for line in sys.stdin: print(line.upper(), end='', flush=True)\n"
            "print('end', file=sys.stderr)")
    with engine.popen("python", "-c", code) as cell:
        assert os.read(cell.stdout.fileno(), 100) == b"p> "
        for word in b"one", b"two":
            cell.stdin.write(word + b"\n")
            cell.stdin.flush()
            assert cell.stdout.readline() == word.upper() + b"\n"
        cell.stdin.close()
        assert cell.stderr.read() == b"end\n"
        assert cell.wait(20) == 0


def test_the_result_is_complete(engine):
    r = engine.python("print(1)")
    assert set(r) == RESULT
    assert r["execution_time_ms"] > 0


@pytest.mark.engines("docker", "podman")
def test_bytes_pass_as_they_are(engine):
    """Also bytes that look like the frames of an engine's stream."""
    data = (bytes(range(256)) + b"\1\0\0\0\0\0\0\5" + b"\2\0\0\0") * 40
    code = ("import os\nd = (bytes(range(256)) + %r) * 40\n"
            "os.write(1, d); os.write(2, d[::-1])" % data[256:268])
    done = engine.run("python", "-c", code)
    assert done.stdout == data and done.stderr == data[::-1]


@pytest.mark.engines("docker", "podman")
def test_megabytes_of_input_and_output(engine):
    data = os.urandom(8 << 20)
    code = "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"
    done = engine.run("--output", "16M", "python", "-c", code, input=data)
    assert done.returncode == 0, done.stderr
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest()


@pytest.mark.engines("docker", "podman")
def test_unread_input_does_not_block(engine):
    r = engine.python("print('ran')", input=b"x" * (1 << 20))
    assert_success(r)
    assert r["stdout"] == "ran\n"
    r = engine.python("import sys; sys.stdin.close(); print('ran')", input=b"x" * (1 << 20))
    assert r["stdout"] == "ran\n", brief(r)


@pytest.mark.engines("docker", "podman")
def test_without_input_the_program_reads_the_end_of_file(engine):
    assert engine.python("import sys; print(repr(sys.stdin.read()))")["stdout"] == "''\n"


@pytest.mark.engines("docker", "podman")
def test_a_background_process_does_not_delay_the_result(engine):
    """The run ends with the program, even if another process holds its output open."""
    r = engine.json("sh", "-c", "(sleep 60; echo late) & echo early")
    assert_success(r)
    assert r["stdout"] == "early\n" and r["execution_time_ms"] < 30000, brief(r)


@pytest.mark.engines("docker")
def test_a_closed_output_pipe_ends_the_container(engine):
    argv, env = engine.argv("python", "-c", "while True: print('y' * 100)")
    cell = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    assert cell.stdout.readline() == b"y" * 100 + b"\n"
    cell.stdout.close()
    assert cell.wait(30) == 141


# ---- environment and arguments ----

@pytest.mark.engines("docker", "podman")
def test_variables_reach_the_program_unchanged(engine):
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    r = engine.python(code, "--env", "A=1=2", "--env", "B=", "--env", "C=$HOME `id` \"'\n")
    seen = json.loads(r["stdout"])
    assert (seen["A"], seen["B"], seen["C"]) == ("1=2", "", "$HOME `id` \"'\n")
    assert not [name for name in seen if name.startswith(("DOCKER", "DEWAR"))], sorted(seen)


@pytest.mark.engines("docker", "podman")
def test_no_shell_sees_an_argument(engine):
    args = ["$(touch /tmp/x)", "; exit 9", "a\nb", "", "'", '"', "\\", "{}", "%s", "--", "-c"]
    r = engine.json("python", "-c", "import sys; print(sys.argv[1:])", "--", *args)
    assert r["stdout"] == repr(args) + "\n", brief(r)


@pytest.mark.engines("docker")
@pytest.mark.parametrize("status", [0, 1, 2, 3, 124, 125, 126, 127, 128, 130, 137, 255])
def test_the_exit_status_is_the_programs(engine, status):
    """Also statuses that an engine uses for its own failures and for signals."""
    r = engine.python("raise SystemExit(%d)" % status)
    assert (r["reason"], r["exit_code"], r["signal"]) == ("exit", status, None), brief(r)


# ---- files in ----

def test_files_are_put_in(engine, tmp_path):
    data = bytes(range(256)) * 300
    (tmp_path / "in.bin").write_bytes(data)
    (tmp_path / "empty").write_bytes(b"")
    code = ("import hashlib, os\nprint(hashlib.sha256(open('x/y/z', 'rb').read()).hexdigest(),"
            " os.path.getsize('empty'), os.getcwd())\nopen('empty', 'a').write('more')")
    r = engine.python(code, "--file", "x/y/z=%s" % (tmp_path / "in.bin"), "--file",
                      tmp_path / "empty")
    assert_success(r)
    assert r["stdout"] == hashlib.sha256(data).hexdigest() + " 0 /tmp\n", brief(r)


@pytest.mark.engines("docker", "podman")
def test_megabytes_in_and_out(engine, tmp_path):
    data = os.urandom(10 << 20)
    (tmp_path / "big").write_bytes(data)
    r = engine.json("sh", "-c", "cp big copy", "--file", tmp_path / "big", "--collect", "copy")
    assert_success(r)
    assert base64.b64decode(r["files"][0]["data"]) == data


@pytest.mark.engines("docker", "podman")
def test_a_file_bigger_than_tmp_is_an_answer(engine, tmp_path):
    (tmp_path / "big").write_bytes(b"x" * (3 << 20))
    done = engine.run("--json", "--tmp", "2M", "sh", "-c", "echo ran", "--file", tmp_path / "big")
    assert done.returncode == 125 and b"ran\\n" not in done.stdout, done
    assert b"--tmp" in done.stdout, done


# ---- the workspace ----

@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "ws"
    (folder / "sub").mkdir(parents=True)
    (folder / "in.txt").write_text("host")
    return folder


WRITE = """
import errno, sys
for path in sys.argv[1:]:
    try:
        with open(path, 'w') as f: f.write('from the cell')
        print('written')
    except OSError as e: print(errno.errorcode[e.errno])
"""


def test_the_workspace_is_at_work_and_read_only(engine, workspace):
    r = engine.python("import os; print(os.getcwd(), open('in.txt').read())",
                      "--workspace", workspace)
    assert r["stdout"] == "/work host\n", brief(r)
    r = engine.json("--workspace", workspace, "python", "-c", WRITE, "--", "/work/new",
                    "/work/in.txt", "/work/sub/new", "/tmp/new")
    assert r["stdout"].split()[3:] == ["written"], brief(r)
    assert set(r["stdout"].split()[:3]) <= {"EROFS", "EACCES"}, brief(r)
    assert (workspace / "in.txt").read_text() == "host"
    assert sorted(os.listdir(workspace)) == ["in.txt", "sub"]


@pytest.mark.engines("docker", "podman")
def test_without_a_workspace_there_is_no_work_folder(engine):
    assert engine.python("import os; print(os.path.exists('/work'), os.getcwd())")["stdout"] == \
        "False /tmp\n"


ODD_NAMES = ["a:b", "a,b", "a b", "ä", "a'b\"", "x:ro", "x,readonly=false", "x,rw",
             "x,src=/etc", "x,dst=/etc", "x\\n"]


@pytest.mark.engines("docker", "podman")
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_workspace_with_an_odd_name(engine, tmp_path, name):
    """These characters have a meaning in the engines' short form for mounts."""
    folder = tmp_path / name
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    (folder / "in.txt").write_text("host")
    (folder / "in.txt").chmod(0o666)
    code = "print(open('/work/in.txt').read(), flush=True); open('/work/in.txt', 'w').write('x')"
    r = engine.python(code, "--workspace", folder)
    # Podman describes a mount in one line with commas: a name with a comma is refused.
    if engine.kind == "podman" and (set(name) & set(",\"")) and r["reason"] == "unavailable":
        assert r["stdout"] == "" and r["hint"] and r["metadata"]["ok"] is False, brief(r)
    else:
        assert r["stdout"] == "host\n" and "Read-only" in r["stderr"], brief(r)
    assert (folder / "in.txt").read_text() == "host"


@pytest.mark.engines("docker", "podman")
def test_a_workspace_that_only_its_owner_may_read(engine, workspace):
    """The program runs as user nobody, on the host as well; the error says so."""
    workspace.chmod(0o700)
    r = engine.python("print('ran')", "--workspace", workspace)
    assert_ended(r, "error", "unavailable", "/work", "nobody")
    assert r["stdout"] == ""


@pytest.mark.engines("docker", "podman")
def test_a_writable_path(engine, workspace):
    (workspace / "sub").chmod(0o777)
    r = engine.json("--workspace", workspace, "--writable", "sub", "python", "-c", WRITE, "--",
                    "/work/sub/new", "/work/new")
    if r["reason"] == "unavailable":
        # The option may be refused, but must not be ignored.
        assert "writable" in r["hint"], brief(r)
        return
    assert r["stdout"].split()[0] == "written", brief(r)
    assert r["stdout"].split()[1] in ("EROFS", "EACCES"), brief(r)
    assert (workspace / "sub" / "new").read_text() == "from the cell"


@pytest.mark.engines("docker")
def test_a_missing_workspace_or_a_file_is_refused(engine, tmp_path):
    done = engine.run("--workspace", tmp_path / "missing", "python", "-c", "print('ran')")
    assert done.returncode == 125 and done.stdout == b"", done
    assert not (tmp_path / "missing").exists(), "an engine creates missing sources of bind mounts"


def test_a_failing_program_is_reported_as_at_other_levels(engine):
    r = engine.python("1/0")
    assert_ended(r, "error", "exit")
    assert r["exit_code"] == 1 and "ZeroDivisionError" in r["stderr"]
