# SPDX-License-Identifier: Apache-2.0
"""Collecting files from a container: only the requested ones, whatever the program creates."""

import base64

import pytest

from e2e.helpers import assert_success, brief
from fakes import faulty_engine

RUNC = ("docker", "podman")


def names(r):
    return sorted(f["name"] for f in r["files"])


def content(r, name):
    found = [f for f in r["files"] if f["name"] == name]
    assert len(found) == 1, names(r)
    data = base64.b64decode(found[0]["data"], validate=True)
    assert found[0]["size"] == len(data)
    return data


def test_collected_bytes_are_unchanged(engine, tmp_path):
    code = "open('out.bin', 'wb').write(bytes(range(256)) * 10); open('empty', 'w')"
    r = engine.python(code, "--collect", "out.bin", "--collect", "/tmp/empty")
    assert_success(r)
    assert content(r, "out.bin") == bytes(range(256)) * 10 and content(r, "empty") == b""
    done = engine.run("--collect", "out.bin", "--into", tmp_path, "python", "-c", code)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.bin").read_bytes() == bytes(range(256)) * 10


@pytest.mark.engines(*RUNC)
@pytest.mark.parametrize("pattern, wanted", [
    ("*.png", ["a.png"]), ("out/*.png", ["out/d.png"]), ("*/*/*.png", ["out/deep/e.png"]),
    ("b?.txt", ["b1.txt", "b2.txt"]), ("b[2-9].txt", ["b2.txt"]), ("out", []), ("nothing*", []),
    ("*", ["a.png", "b1.txt", "b2.txt"]),
])
def test_collect_patterns(engine, pattern, wanted):
    r = engine.json("sh", "-c", "mkdir -p out/deep; for n in a.png b1.txt b2.txt out/d.png"
                    " out/deep/e.png; do echo $n > $n; done", "--collect", pattern)
    assert names(r) == wanted, brief(r)
    assert wanted or any(pattern in w for w in r["warnings"])


@pytest.mark.engines(*RUNC)
@pytest.mark.parametrize("code, reason", [("exit 3", "exit"), ("kill -9 $$", "signal"),
                                          ("sleep 60", "timeout_wall")])
def test_files_of_a_failing_program_are_collected(engine, code, reason):
    r = engine.json("--timeout", "2s", "sh", "-c", "echo x > x; " + code, "--collect", "x")
    assert r["reason"] == reason and content(r, "x") == b"x\n", brief(r)


HOSTILE = """
import os, socket
os.symlink('/etc/passwd', 'evil')
os.symlink('/etc', 'dir')
os.mkfifo('fifo')
os.mkdir('sub')
os.symlink('../../../../etc/passwd', 'sub/up')
os.symlink('/proc/self/environ', 'sub/env')
os.symlink('sub', 'inner')
os.symlink('x', 'loop'); os.symlink('loop', 'x')
s = socket.socket(socket.AF_UNIX); s.bind('sock')
open('good', 'w').write('good'); open('sub/good', 'w').write('good')
"""


@pytest.mark.parametrize("pattern", ["*", "evil", "*/*", "dir/passwd"])
def test_only_regular_files_and_no_links(engine, pattern):
    r = engine.python(HOSTILE, "--collect", pattern)
    assert_success(r)
    assert set(names(r)) <= {"good", "sub/good"}
    assert all(content(r, name) == b"good" for name in names(r))
    assert ("good" in names(r)) == (pattern == "*")
    assert ("sub/good" in names(r)) == (pattern == "*/*")


@pytest.mark.engines(*RUNC)
@pytest.mark.parametrize("pattern", ["../etc/passwd", "/etc/passwd", "sub/../../etc/passwd"])
def test_nothing_outside_tmp_is_collected(engine, pattern):
    done = engine.run("--json", "--collect", pattern, "sh", "-c", "mkdir sub")
    assert done.returncode == 125 or b'"files":[]' in done.stdout.replace(b" ", b""), done


@pytest.mark.engines(*RUNC)
def test_more_files_than_permitted_are_a_warning(engine):
    """Too large, too many or too deep: a warning, and a result by the deadline."""
    r = engine.python("f = open('huge', 'wb'); f.truncate(1 << 40); open('good', 'w').write('x')",
                      "--collect", "*")
    assert "huge" not in names(r) or content(r, "huge") is None, brief(r)
    assert r["warnings"], brief(r)
    r = engine.python("for i in range(2000): open('f%d' % i, 'w').write('x')", "--collect", "*")
    assert 0 < len(names(r)) < 2000 and r["warnings"], (len(names(r)), r["warnings"])
    r = engine.python("import os\nfor _ in range(300):\n    os.mkdir('d'); os.chdir('d')",
                      "--collect", "*/*", "--collect", "d/d/d/*")
    assert_success(r)


@pytest.mark.engines(*RUNC)
def test_odd_file_names_are_harmless(engine):
    """Names that are not UTF-8 or contain control characters do no harm."""
    r = engine.python("import os\nfor n in (b'a\\nb', b'\\xff', b'\\x1b[31m', b'-rf', b'ok'):\n"
                      "    open(n, 'w').write('x')", "--collect", "*")
    assert_success(r)
    assert {"-rf", "ok"} <= set(names(r)), names(r)


# ---- an engine that could send a forged archive ----

@pytest.mark.engines("docker")
def test_no_archive_is_requested_from_the_engine(engine, faulty, tmp_path):
    """Files are read inside the container: no archive from the engine is unpacked."""
    faulty.fault("/archive|/export", faulty_engine.says(200, b"no tar", "application/x-tar"))
    into = tmp_path / "into"
    done = engine.run("--collect", "*", "--into", into, "sh", "-c", "echo good > x",
                      host=faulty.host)
    assert done.returncode == 0, done
    assert [(path.name, path.read_bytes()) for path in into.iterdir()] == [("x", b"good\n")]
    assert faulty.saw("POST .*/start") and not faulty.saw("/archive|/export"), faulty.requests
