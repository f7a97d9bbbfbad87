# SPDX-License-Identifier: Apache-2.0
"""Files into a cell, files out of it, and the host's files that a cell sees."""

import base64
import hashlib
import json
import os
import re
import stat
import subprocess
import sys

import pytest

pytestmark = pytest.mark.privilege

OTHER = 12345  # a user that is neither root nor the one that runs the tests

# Tries to write to each path of argv and prints one result a line.
WRITE = """
import errno, sys
for path in sys.argv[1:]:
    try:
        with open(path, 'w') as f: f.write('from the cell')
        print('written')
    except OSError as e: print(errno.errorcode[e.errno])
"""


def content(answer, name):
    found = [f for f in answer["files"] if f["name"] == name]
    assert len(found) == 1, [f["name"] for f in answer["files"]]
    data = base64.b64decode(found[0]["data"], validate=True)
    assert found[0]["size"] == len(data)
    return data


def names(answer):
    return sorted(f["name"] for f in answer["files"])


# ---- the workspace ----

@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "ws"
    (folder / "sub").mkdir(parents=True)
    (folder / "in.txt").write_text("host")
    (folder / "sub" / "deep.txt").write_text("deep")
    return folder


@pytest.mark.core
def test_the_workspace_is_at_work_and_read_only(run, workspace):
    done = run("run", "--workspace", workspace, "python", "-c",
               "import os; print(os.getcwd(), open('in.txt').read(),"
               " open('/work/sub/deep.txt').read(), sorted(os.listdir('.')))")
    assert done.stdout == b"/work host deep ['in.txt', 'sub']\n", done
    done = run("run", "--workspace", workspace, "python", "-c", WRITE, "--", "/work/new",
               "/work/in.txt", "/work/sub/new", "/work/sub/deep.txt", "/tmp/new")
    assert done.stdout == b"EROFS\nEROFS\nEROFS\nEROFS\nwritten\n", done
    assert (workspace / "in.txt").read_text() == "host"
    assert sorted(os.listdir(workspace)) == ["in.txt", "sub"]


def test_the_workspace_cannot_be_changed_in_other_ways(run, workspace):
    done = run("run", "--workspace", workspace, "python", "-c", """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(f, *args):
    try: f(*args); print('done', f, args)
    except OSError as e:
        if e.errno not in (errno.EROFS, errno.EPERM, errno.EACCES, errno.EXDEV): print(e)
attempt(os.unlink, 'in.txt')
attempt(os.rename, 'in.txt', 'out.txt')
attempt(os.rename, 'in.txt', '/tmp/out.txt')
attempt(os.mkdir, 'new')
attempt(os.symlink, '/etc', 'link')
attempt(os.link, 'in.txt', 'hard')
attempt(os.link, 'in.txt', '/tmp/hard')
attempt(os.chmod, 'in.txt', 0o777)
attempt(os.utime, 'in.txt', (1, 1))
attempt(os.truncate, 'in.txt', 0)
attempt(os.setxattr, 'in.txt', 'user.x', b'1')
def mount():
    if libc.mount(None, b'/work', None, 32 | 4096, None) < 0:
        raise OSError(ctypes.get_errno(), 'mount')
attempt(mount)
print('end')
""")
    assert done.stdout == b"end\n", done
    assert (workspace / "in.txt").read_text() == "host"


def test_without_a_workspace_there_is_no_work_folder(run):
    done = run("run", "python", "-c", "import os; print(os.path.exists('/work'), os.getcwd())")
    assert done.stdout == b"False /tmp\n", done


def test_the_folder_above_the_workspace_is_not_there(run, workspace):
    (workspace.parent / "secret").write_text("x")
    (workspace / "out").symlink_to("../secret")
    (workspace / "abs").symlink_to(workspace.parent / "secret")
    done = run("run", "--workspace", workspace, "python", "-c", """
import os
print(sorted(os.listdir('/work/..')) == sorted(os.listdir('/')))
for name in 'out', 'abs', '../secret':
    print(os.path.exists(name))
""")
    assert done.stdout == b"True\nFalse\nFalse\nFalse\n", done


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_missing_workspace_or_a_file_is_refused(run, tmp_path, kind):
    path = tmp_path / kind
    if kind == "file":
        path.write_text("x")
    done = run("run", "--workspace", path, "python", "-c", "print('ran')")
    assert done.returncode == 125 and done.stdout == b""
    assert str(path).encode() in done.stderr and done.stderr.count(b"\n") == 1


def test_a_workspace_through_a_link_and_relative(run, workspace):
    (workspace.parent / "link").symlink_to("ws")
    for name in "ws", "./ws", "link", "ws/sub/..", "ws/":
        done = run("run", "--workspace", name, "sh", "-c", "cat in.txt", cwd=workspace.parent)
        assert done.stdout == b"host", (name, done)


@pytest.mark.parametrize("owner", [0, OTHER], ids=["root", "another"])
def test_a_workspace_that_only_its_owner_may_read(run, workspace, is_root, must, owner):
    must(is_root, "only root can read a folder of another user")
    for path in workspace, workspace / "sub", workspace / "in.txt", workspace / "sub/deep.txt":
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.chown(path, owner, owner)
    done = run("run", "--workspace", workspace, "python", "-c",
               "import os; print(open('in.txt').read(), open('sub/deep.txt').read(), os.getuid())")
    assert done.stdout == b"host deep 1000\n", done
    done = run("run", "--workspace", workspace, "python", "-c", WRITE, "--", "in.txt", "new")
    assert done.stdout == b"EROFS\nEROFS\n", done


def test_the_callers_private_workspace_is_readable(run, workspace):
    workspace.chmod(0o700)
    (workspace / "in.txt").chmod(0o600)
    assert run("run", "--workspace", workspace, "sh", "-c", "cat in.txt").stdout == b"host"


# ---- writable paths ----

@pytest.mark.parametrize("form", ["relative", "absolute", "in the cell", "dot"])
def test_a_writable_folder_of_the_workspace(run, workspace, form):
    path = {"relative": "sub", "absolute": str(workspace / "sub"), "in the cell": "/work/sub",
            "dot": "sub/"}[form]
    done = run("run", "--workspace", workspace, "--writable", path, "python", "-c", WRITE, "--",
               "/work/sub/new", "/work/sub/deep.txt", "/work/new", "/work/in.txt")
    assert done.stdout == b"written\nwritten\nEROFS\nEROFS\n", done
    made = workspace / "sub" / "new"
    assert made.read_text() == (workspace / "sub/deep.txt").read_text() == "from the cell"
    owner = (workspace / "sub").stat()
    assert (made.stat().st_uid, made.stat().st_gid) == (owner.st_uid, owner.st_gid)


@pytest.mark.parametrize("owner", [0, OTHER], ids=["root", "another"])
def test_written_files_belong_to_the_owner_of_the_folder(run, workspace, is_root, must, owner):
    must(is_root, "only root can give a folder to another user")
    os.chown(workspace / "sub", owner, owner)
    (workspace / "sub").chmod(0o700)
    done = run("run", "--workspace", workspace, "--writable", "sub", "python", "-c",
               "import os\nos.mkdir('sub/d')\nopen('sub/d/f', 'w').write('x')\n"
               "print(os.stat('sub/d/f').st_uid)")
    assert done.stdout == b"1000\n", done
    for path in workspace / "sub/d", workspace / "sub/d/f":
        assert (path.stat().st_uid, path.stat().st_gid) == (owner, owner)


def test_a_writable_file(run, workspace):
    done = run("run", "--workspace", workspace, "--writable", "in.txt", "python", "-c", WRITE,
               "--", "in.txt", "other")
    assert done.stdout == b"written\nEROFS\n", done
    assert (workspace / "in.txt").read_text() == "from the cell"


def test_a_writable_folder_outside_of_the_workspace(run, workspace, tmp_path):
    """The cell sees it under the host's own path."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "there").write_text("before")
    done = run("run", "--workspace", workspace, "--writable", out, "python", "-c",
               WRITE + "print(open(sys.argv[2]).read())", "--", out / "new", out / "there",
               tmp_path / "beside")
    assert done.stdout.startswith(b"written\nwritten\n"), done
    assert (out / "new").read_text() == "from the cell"
    assert not (tmp_path / "beside").exists()


@pytest.mark.parametrize("way", ["os.chmod('sub/e', 0o6755)",
                                 "os.fchmod(os.open('sub/e', os.O_RDWR), 0o6755)",
                                 "os.chmod('e', 0o6755, dir_fd=os.open('sub', os.O_RDONLY))",
                                 "os.open('sub/f', os.O_CREAT | os.O_RDWR, 0o6755)",
                                 "os.mknod('sub/f', 0o106755)"],
                         ids=["chmod", "fchmod", "fchmodat", "open", "mknod"])
def test_a_set_user_id_file_cannot_be_left_behind(run, workspace, way):
    """A user that executes it would act as the owner of the workspace: root, if root runs dewar."""
    code = "import os\nos.umask(0)\nopen('sub/e', 'w').write('#!/bin/sh')\n" + way

    def set_id():
        return [path.name for path in (workspace / "sub").iterdir()
                if stat.S_IMODE(path.stat().st_mode) & 0o6000]

    done = run("run", "--workspace", workspace, "--writable", "sub", "python", "-c", code)
    assert b"PermissionError" in done.stderr, done
    assert (workspace / "sub/e").read_text() == "#!/bin/sh" and set_id() == []
    (workspace / "sub/e").unlink()
    subprocess.run([sys.executable, "-c", code], cwd=workspace, check=True)
    assert len(set_id()) == 1, "the control: without walls it is left behind"


def test_device_nodes_cannot_be_made(run, workspace):
    done = run("run", "--workspace", workspace, "--writable", "sub", "python", "-c",
               "import os\ntry: os.mknod('sub/n', 0o666 | 0o020000, os.makedev(1, 5))\n"
               "except OSError as e: print('refused')")
    assert done.stdout == b"refused\n", done
    assert not (workspace / "sub/n").exists()


@pytest.mark.parametrize("path", [
    "..", "../", "sub/../..", "sub/..", ".", "", "missing", "/", "/etc", "/etc/", "/usr",
    "/usr/bin", "/bin", "/lib", "/proc", "/proc/self", "/sys", "/dev", "/dev/shm", "/tmp", "/run",
    "/boot", "/work", "//etc", "/./etc", "/tmp/../etc", "link", "link/sub", "sub/etc",
    "/no/such/place",
])
def test_an_unsafe_writable_path_is_refused(run, workspace, path):
    (workspace / "link").symlink_to(".")
    (workspace / "sub" / "etc").symlink_to("/etc")
    done = run("run", "--workspace", workspace, "--writable", path, "python", "-c",
               "print('ran')")
    assert done.returncode == 125 and done.stdout == b"", done
    assert done.stderr.startswith(b"dewar: ") and done.stderr.count(b"\n") == 1


def test_a_writable_link_to_a_system_path_is_refused(run, tmp_path):
    (tmp_path / "etc").symlink_to("/etc")
    (tmp_path / "root").symlink_to("/")
    for name in "etc", "root", "root/usr":
        done = run("run", "--writable", tmp_path / name, "python", "-c", "print('ran')")
        assert done.returncode == 125 and done.stdout == b"", done


def test_a_relative_writable_path_needs_a_workspace(run):
    done = run("run", "--writable", "sub", "python", "-c", "print('ran')")
    assert done.returncode == 125 and b"workspace" in done.stderr


# ---- files in ----

@pytest.mark.core
def test_files_are_put_in(run, tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n")
    (tmp_path / "b=c").write_text("equals")
    done = run("run", "python", "-c",
               "import os\nfor p in ('a.csv', 'x/y/z.csv', '/tmp/eq', 'sp ace é'):\n"
               "    print(repr(open(p).read()))\nopen('a.csv', 'a').write('3')\nprint('ok')",
               "--file", tmp_path / "a.csv", "--file", "x/y/z.csv=%s" % (tmp_path / "a.csv"),
               "--file", "eq=%s" % (tmp_path / "b=c"),
               "--file", "sp ace é=%s" % (tmp_path / "a.csv"))
    assert done.stdout == b"'1,2\\n'\n'1,2\\n'\n'equals'\n'1,2\\n'\nok\n", done
    assert (tmp_path / "a.csv").read_text() == "1,2\n"


def test_bytes_of_a_file_stay_as_they_are(run, run_json, tmp_path):
    data = bytes(range(256)) * 16 + b"\0" * 100
    (tmp_path / "bin").write_bytes(data)
    (tmp_path / "empty").write_bytes(b"")
    code = ("import hashlib, os\nprint(hashlib.sha256(open('bin', 'rb').read()).hexdigest(),"
            " os.path.getsize('empty'))")
    done = run("run", "python", "-c", code, "--file", tmp_path / "bin", "--file",
               tmp_path / "empty")
    assert done.stdout.decode() == hashlib.sha256(data).hexdigest() + " 0\n", done


@pytest.mark.parametrize("level", ["process", "container"])
def test_ten_megabytes_in_and_out(run_json, tmp_path, level):
    data = os.urandom(10 * 1024 * 1024)
    (tmp_path / "big").write_bytes(data)
    answer = run_json("--level", level, "sh", "-c", "cp big copy", "--file", tmp_path / "big",
                      "--collect", "copy")
    assert content(answer, "copy") == data


def test_a_file_bigger_than_tmp_is_an_answer(run_json, tmp_path):
    (tmp_path / "big").write_bytes(b"x" * (3 << 20))
    answer = run_json("--tmp", "2M", "sh", "-c", "echo ran", "--file", tmp_path / "big")
    text = json.dumps(answer)
    assert "ran\\n" not in text and "--tmp" in text, answer


@pytest.mark.parametrize("name", ["..", "../x", "a/../x", "a/../../x", "/x", "/etc/passwd", "",
                                  ".", "./x", "a//b", "a/", "a/."])
def test_a_name_that_leads_elsewhere_is_refused(run, tmp_path, name):
    (tmp_path / "x").write_text("x")
    done = run("run", "python", "-c", "print('ran')", "--file", "%s=%s" % (name, tmp_path / "x"))
    assert done.returncode == 125 and done.stdout == b"", done
    text = json.dumps({"language": "python", "code": "print('ran')", "files": {name: "eA=="}})
    done = run("run", "--request", "-", input=text.encode())
    assert done.returncode == 125 and done.stdout == b"", done


@pytest.mark.parametrize("pair", [("x", "x"), ("x", "x/y"), ("x/y", "x"), ("code", "code")])
def test_two_files_of_one_name_are_refused(run, tmp_path, pair):
    (tmp_path / "f").write_text("x")
    done = run("run", "python", "-c", "print('ran')", "--file",
               "%s=%s" % (pair[0], tmp_path / "f"), "--file", "%s=%s" % (pair[1], tmp_path / "f"))
    assert done.returncode == 125 and done.stdout == b"", done
    assert done.stderr.count(b"\n") == 1


def test_files_of_a_request_must_be_base64(run):
    for data in "*", "eA=", "eA==eA==", 5, None:
        text = json.dumps({"language": "python", "code": "print('ran')", "files": {"x": data}})
        done = run("run", "--request", "-", input=text.encode())
        assert done.returncode == 125 and done.stdout == b"", (data, done)


# ---- files out ----

def test_collected_bytes_are_the_same(run, run_json, tmp_path):
    code = "open('out.bin', 'wb').write(bytes(range(256)) * 10); open('empty', 'w')"
    answer = run_json("python", "-c", code, "--collect", "out.bin", "--collect", "/tmp/empty")
    assert content(answer, "out.bin") == bytes(range(256)) * 10
    assert content(answer, "empty") == b""
    done = run("run", "python", "-c", code, "--collect", "out.bin", "--into", tmp_path)
    assert done.returncode == 0 and done.stderr == b""
    assert (tmp_path / "out.bin").read_bytes() == bytes(range(256)) * 10


def test_collect_patterns(run_json):
    answer = run_json(
        "sh", "-c", "mkdir -p out/deep .hid; for n in a.png b.png c.txt out/d.png out/deep/e.png"
        " .h.png .hid/i.png 'x*y' '[z]'; do echo $n > \"$n\"; done",
        "--collect", "*.png")
    assert names(answer) == ["a.png", "b.png"]
    make = ("sh", "-c", "mkdir -p out/deep; for n in a.png b1.txt b2.txt out/d.png out/deep/e.png;"
            " do echo $n > $n; done")
    for patterns, wanted in [
            (["out/*.png"], ["out/d.png"]), (["*/*/*.png"], ["out/deep/e.png"]),
            (["b?.txt"], ["b1.txt", "b2.txt"]), (["b[2-9].txt"], ["b2.txt"]),
            (["out/deep/e.png"], ["out/deep/e.png"]), (["*/d.png", "out/d.*"], ["out/d.png"]),
            (["*"], ["a.png", "b1.txt", "b2.txt"]), (["out"], []), (["nothing*"], [])]:
        answer = run_json(*make, *(x for p in patterns for x in ("--collect", p)))
        assert names(answer) == wanted, patterns
        if not wanted:
            assert any(patterns[0] in w for w in answer["warnings"]), answer["warnings"]


def test_the_code_itself_is_not_collected(run_json):
    answer = run_json("python", "-c", "open('x', 'w')", "--collect", "*")
    assert names(answer) == ["x"]


def test_a_missing_file_is_a_warning(run, run_json):
    answer = run_json("sh", "-c", ":", "--collect", "no.txt")
    assert answer["status"] == "success" and answer["files"] == []
    assert any("no.txt" in w for w in answer["warnings"])
    done = run("run", "--walls", "sh", "-c", ":", "--collect", "no.txt")
    assert done.returncode == 0 and b"no.txt" in done.stderr


def test_files_of_a_failing_program_are_collected(run_json):
    for code, reason in (("exit 3", "exit"), ("kill -9 $$", "signal"),
                         ("while :; do :; done", "timeout_wall")):
        answer = run_json("--timeout", "1s", "sh", "-c", "echo x > x; " + code,
                          "--collect", "x")
        assert answer["reason"] == reason and content(answer, "x") == b"x\n"


# Not at level none, where the program runs in the caller's own folder.
@pytest.mark.parametrize("level", ["process", "container"])
@pytest.mark.parametrize("pattern", ["*", "evil", "*/*", "dir/*", "dir/hosts"])
def test_only_regular_files_and_no_links(run_json, level, pattern):
    """No link that the program creates reveals a file of the host."""
    answer = run_json("--level", level, "python", "-c", """
import os, socket
os.symlink('/etc/passwd', 'evil')
os.symlink('/etc', 'dir')
os.mkfifo('fifo')
os.mkdir('sub')
os.symlink('../../../../etc/passwd', 'sub/up')
os.symlink('/proc/self/environ', 'sub/env')
os.symlink('sub', 'inner')
os.symlink('x', 'loop'); os.symlink('loop', 'x')
try: os.mknod('dev', 0o666 | 0o020000, os.makedev(1, 5))
except OSError: pass
s = socket.socket(socket.AF_UNIX); s.bind('sock')
open('good', 'w').write('good'); open('sub/good', 'w').write('good')
""", "--collect", pattern)
    assert answer["status"] == "success", answer
    assert set(names(answer)) <= {"good", "sub/good"}
    assert all(content(answer, n) == b"good" for n in names(answer))
    assert ("good" in names(answer)) == (pattern == "*")
    assert ("sub/good" in names(answer)) == (pattern == "*/*")


def test_a_hard_link_is_collected_as_a_file(run_json):
    answer = run_json("python", "-c", "import os; open('a', 'w').write('x'); os.link('a', 'b')",
                      "--collect", "*")
    assert content(answer, "a") == content(answer, "b") == b"x"


def test_an_unreadable_file_is_not_lost_silently(run_json):
    answer = run_json("python", "-c", "import os; open('a', 'w').write('x'); os.chmod('a', 0);"
                      "open('b', 'w').write('y')", "--collect", "*")
    assert answer["status"] == "success" and content(answer, "b") == b"y"
    # Root can read it; for a plain user it is collected or reported, but never lost silently.
    assert "a" in names(answer) or answer["warnings"]


@pytest.mark.parametrize("level", ["process", "container"])
def test_a_huge_sparse_file_is_not_collected(run_json, level):
    answer = run_json("--level", level, "--tmp", "512M", "python", "-c",
                      "import os\nopen('a', 'w').write('x')\n"
                      "os.truncate(os.open('big', os.O_CREAT | os.O_RDWR), 400 << 20)\n",
                      "--collect", "*")
    assert names(answer) == ["a"]
    assert any("big" in w for w in answer["warnings"]), answer["warnings"]


def test_the_number_of_collected_files_is_limited(run_json):
    answer = run_json("python", "-c",
                      "for i in range(400): open('%03d' % i, 'w').write(str(i))",
                      "--collect", "*")
    assert len(answer["files"]) == 256
    assert answer["warnings"] and len(answer["warnings"]) <= 400
    assert all(content(answer, f["name"]) == str(int(f["name"])).encode()
               for f in answer["files"][:5])


def test_collecting_from_a_folder_with_many_names_ends(run_json):
    answer = run_json("--tmp", "256M", "--timeout", "60s", "--cpus", "2", "python", "-c",
                      "import os\nfor i in range(40):\n  os.mkdir('d%d' % i)\n"
                      "  for j in range(1000): os.mknod('d%d/%d' % (i, j))",
                      "--collect", "*/x*")
    assert answer["status"] == "success", answer
    assert answer["files"] == []
    assert any("names" in w for w in answer["warnings"]), answer["warnings"]


def test_collecting_from_a_deep_tree_ends(run_json):
    answer = run_json("python", "-c", "import os\nfor i in range(500):\n"
                      "  os.mkdir('d'); os.chdir('d')\nopen('x', 'w')",
                      "--collect", "/".join("*" * 30))
    assert answer["status"] == "success" and answer["files"] == []


HOSTILE = ["new\nline", "\u202egnp.exe", "\x1b[31mred", "-rf", "a b", "'\"$(x)`", "é", "*",
           "con\x01trol", "x" * 255]


def test_hostile_names_cannot_forge_output(run, run_json, tmp_path):
    code = ("import json, sys\nfor n in json.loads(sys.argv[1]): open(n, 'w').write('x')\n"
            "open(b'bad\\xff\\xfe', 'w').write('x')\nopen(b'half\\xe2\\x82', 'w').write('x')")
    answer = run_json("python", "-c", code, "--collect", "*", "--", json.dumps(HOSTILE))
    assert names(answer) == sorted(HOSTILE), answer["warnings"]
    assert any("UTF-8" in w for w in answer["warnings"])

    done = run("run", "--walls", "python", "-c", code, "--collect", "*", "--into", tmp_path, "--",
               json.dumps(HOSTILE))
    assert sorted(os.listdir(tmp_path)) == sorted(HOSTILE)
    # A name must not control the terminal or forge a line of dewar's output.
    assert b"\x1b" not in done.stderr and b"\xff" not in done.stderr
    assert b"UTF-8" in done.stderr
    assert all(line.startswith(b"dewar: ") for line in done.stderr.splitlines())


def test_a_hostile_name_cannot_forge_a_line_of_an_error(run, tmp_path):
    name = "x\ndewar: all is well\x1b[2J\u202e"
    (tmp_path / name).write_text("already")
    done = run("run", "python", "-c", "import sys; open(sys.argv[1], 'w')", "--collect", "x*",
               "--into", tmp_path, "--", name)
    assert done.returncode == 125
    assert done.stderr.count(b"\n") == 1 and b"\x1b" not in done.stderr, done.stderr
    assert "\u202e".encode() not in done.stderr, done.stderr


@pytest.mark.parametrize("pattern", ["..", "../*", "../../etc/passwd", "/etc/passwd", "/", "",
                                     "a/../../b", "/tmp/../etc/passwd", "/tmp", "/work/x"])
def test_a_pattern_that_leads_elsewhere_is_refused(run, pattern):
    done = run("run", "python", "-c", "print('ran')", "--collect", pattern)
    assert done.returncode == 125 and done.stdout == b"", done


# ---- written to the host ----

MAKE = "import os; os.mkdir('s'); open('a', 'w').write('new'); open('s/b', 'w').write('new')"


def test_collected_files_are_written_where_asked(run, tmp_path):
    done = run("run", "python", "-c", MAKE, "--collect", "a", "--collect", "s/*", "--into",
               tmp_path / "out")
    assert done.returncode == 0, done
    assert (tmp_path / "out/a").read_text() == (tmp_path / "out/s/b").read_text() == "new"
    st = (tmp_path / "out/a").stat()
    assert (st.st_uid, stat.S_IMODE(st.st_mode) & 0o7111) == (os.geteuid(), 0)
    done = run("run", "python", "-c", MAKE, "--collect", "a", cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "a").read_text() == "new"


def test_the_mode_of_a_file_is_not_collected(run, tmp_path):
    run("run", "python", "-c", "import os; open('x', 'w'); os.chmod('x', 0o6777)", "--collect",
        "x", "--into", tmp_path)
    assert not stat.S_IMODE((tmp_path / "x").stat().st_mode) & 0o6111


def test_json_writes_files_only_with_into(run_json, tmp_path):
    answer = run_json("python", "-c", MAKE, "--collect", "a", cwd=tmp_path)
    assert content(answer, "a") == b"new" and os.listdir(tmp_path) == []
    answer = run_json("python", "-c", MAKE, "--collect", "a", "--into", ".", cwd=tmp_path)
    assert content(answer, "a") == b"new" and (tmp_path / "a").read_text() == "new"


@pytest.mark.parametrize("pattern, replaced", [("a", True), ("/tmp/a", True), ("*", False),
                                               ("[a]", False)])
def test_an_existing_file_is_replaced_only_if_named_exactly(run, tmp_path, pattern, replaced):
    (tmp_path / "a").write_text("already there, and longer")
    done = run("run", "python", "-c", MAKE, "--collect", pattern, "--into", tmp_path)
    assert (tmp_path / "a").read_text() == ("new" if replaced else "already there, and longer")
    assert done.returncode == (0 if replaced else 125)
    assert (b"a was not written" in done.stderr) == (not replaced)


def test_a_failing_program_keeps_its_status(run, tmp_path):
    (tmp_path / "a").write_text("already")
    done = run("run", "python", "-c", MAKE + "\nraise SystemExit(3)", "--collect", "*", "--into",
               tmp_path)
    assert done.returncode == 3 and b"not written" in done.stderr


@pytest.mark.parametrize("pattern", ["a", "*", "s/b"])
def test_nothing_is_written_through_a_link(run, tmp_path, pattern):
    into, aim = tmp_path / "into", tmp_path / "aim"
    into.mkdir()
    aim.mkdir()
    (aim / "file").write_text("untouched")
    (aim / "b").write_text("untouched")
    (into / "a").symlink_to(aim / "file")
    (into / "s").symlink_to(aim)
    done = run("run", "python", "-c", MAKE, "--collect", pattern, "--into", into)
    assert done.returncode == 125, done
    assert (aim / "file").read_text() == (aim / "b").read_text() == "untouched"


def test_nothing_is_written_into_a_fifo_or_folder(run, tmp_path):
    os.mkfifo(tmp_path / "a")
    (tmp_path / "s").write_text("not a folder")
    done = run("run", "python", "-c", MAKE, "--collect", "a", "--collect", "s/b", "--into",
               tmp_path, timeout=60)
    assert done.returncode == 125 and done.stderr.count(b"not written") == 2, done


# ---- nothing stays ----

@pytest.mark.core
@pytest.mark.parametrize("level, folder", [("process", "."), ("container", "."),
                                           ("container", "/tmp"), ("container", "/dev/shm")])
def test_a_run_finds_no_files_of_an_earlier_run(run, level, folder):
    code = ("import os, sys\nos.chdir(sys.argv[1])\n"
            "print([f for f in os.listdir('.') if 'trace' in f])\n"
            "open('trace', 'w')\nprint(os.path.exists('trace'))")
    for _ in range(2):
        done = run("run", "--level", level, "python", "-c", code, "--", folder)
        assert done.stdout == b"[]\nTrue\n", done


def test_the_cell_does_not_see_tmp_of_the_host(run, tmp_path):
    (tmp_path / "mine").write_text("x")
    done = run("run", "python", "-c", "import os, sys; print(sorted(os.listdir('/tmp')));"
               "print(os.path.exists(sys.argv[1]))", "--", tmp_path / "mine")
    listing, exists = done.stdout.splitlines()
    assert len(re.findall(rb"'[^']*'", listing)) <= 1 and exists == b"False", done


def test_the_cell_sees_only_programs_of_the_host(run):
    done = run("run", "python", "-c", "import os\nfor p in ('/root', '/home', '/var', '/run',"
               " '/sys', '/boot', '/mnt', '/srv', '/opt', '/etc/shadow', '/etc/ssh',"
               " '/etc/hostname', '/etc/machine-id', '/proc/kcore', '/proc/sys', '/proc/1/root/etc',"
               " '/dev/mem', '/dev/net', '/dev/tty', '/dev/kmsg'):\n"
               "    try: os.listdir(p) if os.path.isdir(p) else open(p); print(p)\n"
               "    except OSError: pass")
    assert done.stdout == b"", done
