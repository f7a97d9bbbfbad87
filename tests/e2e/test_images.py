# SPDX-License-Identifier: Apache-2.0
"""An image in place of the host's root file system: what a cell sees of it, cold and warm."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.privilege

CACHE = pathlib.Path(os.environ.get("DEWAR_CACHE") or "~/.cache/dewar").expanduser() / "debian"
SUITES = {"bullseye": "3.9", "trixie": "3.13"}  # Debian suites and their Python versions

def libraries(program):
    """The libraries of a program according to ldd, as real paths on the host."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return re.findall(r"(/\S+) \(0x", text)


@pytest.fixture(scope="module")
def image_parts():
    return {program: libraries(program) for program in ("/bin/dash", "/bin/cat", "/bin/ls")}


@pytest.fixture
def image(tmp_path, image_parts):
    """A root file system with a shell, cat and ls, owned by the user that runs the tests."""
    root = tmp_path / "image"
    (root / "usr/bin").mkdir(parents=True)
    (root / "bin").symlink_to("usr/bin")
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text("someone:x:1000:1000::/:/bin/sh\n")
    (root / "etc/mark").write_text("of the image\n")
    for program, needed in image_parts.items():
        shutil.copy(program, root / "usr/bin")
        for library in needed:
            target = root / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy(library, target)
    (root / "usr/bin/sh").symlink_to("dash")
    # Every user needs search permission: a cell of root runs under an unprivileged id.
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == os.geteuid() and folder != folder.parent:
            folder.chmod(folder.stat().st_mode | 0o011)
    return root


def test_the_cell_sees_only_the_image(run, run_json, image):
    done = run("run", "--image", image, "sh", "-c", "cat /etc/mark /etc/passwd; ls /usr/bin")
    assert done.stdout == (b"of the image\nsomeone:x:1000:1000::/:/bin/sh\n"
                           b"cat\ndash\nls\nsh\n"), done
    answer = run_json("--image", image, "sh", "-c", ":")
    assert answer["metadata"]["sandbox_image"] == str(image)
    assert answer["proof"]["walls"]["root_read_only"] is True


def test_an_image_is_read_only(run, image):
    done = run("run", "--image", image, "sh", "-c",
               "for f in /new /etc/mark /usr/bin/new /usr/new; do echo x > $f; done;"
               " echo x > /tmp/new && cat /tmp/new")
    assert done.stdout == b"x\n", done
    assert (image / "etc/mark").read_text() == "of the image\n"
    assert not (image / "new").exists() and not (image / "tmp").exists()


def test_dev_proc_and_tmp_of_a_cell_replace_those_of_the_image(run, image):
    done = run("run", "--image", image, "sh", "-c",
               "echo x > /dev/null; ls /dev; cat /proc/self/comm; ls -A /tmp")
    lines = done.stdout.decode().split()
    assert {"null", "zero", "urandom", "shm"} <= set(lines) and "cat" in lines, done


def test_links_of_an_image_do_not_lead_to_the_host(run, image, tmp_path):
    """The image has links to the host in place of folders that the cell mounts itself."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("SECRET\n")
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (workspace / "w").write_text("workspace\n")
    for name in "dev", "proc", "tmp", "work", "sys", "run":
        (image / name).symlink_to(secret)
    (image / "link").symlink_to(secret)
    (image / "etc/shadow").symlink_to("/etc/shadow")
    (image / "etc/key").symlink_to(secret / "key")
    (image / "etc/up").symlink_to("../" * 30 + str(secret).lstrip("/") + "/key")
    done = run("run", "--image", image, "--workspace", workspace, "sh", "-c",
               "cat /work/w; for d in /dev /proc /tmp /work /sys /run /link; do cat $d/key; done;"
               " cat /etc/key /etc/up /etc/shadow; ls /dev; echo x > /tmp/made")
    assert b"SECRET" not in done.stdout and b"root:" not in done.stdout, done
    assert done.stdout.startswith(b"workspace\n") and b"null" in done.stdout
    assert sorted(os.listdir(secret)) == ["key"]


def test_usr_and_etc_of_an_image_cannot_be_links_to_the_host(run, image, tmp_path):
    """/usr and /etc are links to the host's: they lead nowhere, or into the image."""
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil/mark").write_text("SECRET\n")
    shutil.rmtree(image / "etc")
    (image / "etc").symlink_to(tmp_path / "evil")
    done = run("run", "--image", image, "sh", "-c", "cat /etc/mark; echo ran")
    assert (done.returncode, done.stdout) == (0, b"ran\n"), done
    assert b"/etc/mark" in done.stderr


@pytest.mark.parametrize("place", ["dev", "proc", "tmp", "work"])
def test_an_image_with_a_file_in_place_of_a_folder(run, image, tmp_path, place):
    (image / place).write_text("not a folder")
    done = run("run", "--image", image, "--workspace", tmp_path, "sh", "-c", "echo ran")
    assert done.stdout == b"ran\n", done


def test_an_image_with_odd_names_at_its_top(run, image):
    for name in ("a b", "-x", "é", "new\nline", "x" * 255, ".hidden", "..."):
        (image / name).mkdir()
    (image / "file").write_text("top\n")
    os.mkfifo(image / "fifo")
    done = run("run", "--image", image, "sh", "-c", "cat /file; ls -d '/a b' /... /.hidden")
    assert done.stdout == b"top\n/...\n/.hidden\n/a b\n", done


def test_many_entries_at_the_top_of_an_image(run, image):
    for i in range(1500):
        (image / ("d%d" % i)).mkdir()
    done = run("run", "--image", image, "sh", "-c", "echo ran")
    # Too many may be refused, with one line of error.
    assert done.stdout == b"ran\n" or (done.returncode == 125 and done.stderr.count(b"\n") == 1)


def test_an_image_that_is_missing(run_json, run, tmp_path):
    answer = run_json("--image", tmp_path / "none", "sh", "-c", "echo ran")
    assert (answer.get("status"), answer.get("reason")) == ("error", "unavailable"), answer
    assert answer["metadata"]["ok"] is False and str(tmp_path / "none") in answer["hint"]
    done = run("run", "--image", tmp_path / "none", "sh", "-c", "echo ran")
    assert done.returncode == 125 and done.stdout == b""
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("what", ["file", "empty"])
def test_an_image_must_be_a_folder_that_is_not_empty(run_json, tmp_path, what):
    path = tmp_path / what
    if what == "file":
        path.write_text("x")
    else:
        path.mkdir()
    answer = run_json("--image", path, "sh", "-c", "echo ran")
    assert answer.get("reason") == "unavailable" and answer["stdout"] == "", answer


def test_an_image_without_the_interpreter(run_json, image):
    answer = run_json("--image", image, "python", "-c", "print('ran')")
    assert (answer["status"], answer["reason"]) == ("error", "unavailable"), answer
    assert "python" in answer["hint"] and answer["metadata"]["ok"] is False


def test_an_interpreter_that_links_to_the_hosts_is_not_found(run_json, image):
    """The interpreter is searched in the image, as the cell sees it."""
    (image / "usr/bin/python3").symlink_to("/opt/python/bin/python3")
    answer = run_json("--image", image, "python", "-c", "print('ran')")
    assert answer["status"] == "error" and answer["stdout"] == "", answer
    assert answer["reason"] == "unavailable", answer


def test_the_root_of_the_host_is_refused_as_an_image(run):
    for path in "/", "/usr/..", "//":
        done = run("run", "--image", path, "sh", "-c", "echo ran")
        assert done.returncode == 125 and done.stdout == b"", (path, done)


@pytest.mark.parametrize("level", ["none", "process"])
def test_a_level_without_images_refuses_one(run_json, image, level):
    answer = run_json("--level", level, "--image", image, "sh", "-c", "echo ran")
    assert (answer["status"], answer["reason"], answer["stdout"]) == ("error", "unavailable", "")
    assert "level %s: cannot use an image" % level in answer["hint"]


# ---- warm ----

@pytest.mark.parametrize("way", ["standby", "fork"])
def test_an_image_can_be_kept_warm(run_json, image, way):
    answer = run_json("--warm", way, "--image", image, "sh", "-c", "cat /etc/mark; ls /; ls /tmp")
    assert answer["metadata"]["warm"] is True, answer
    assert answer["metadata"]["sandbox_image"] == str(image)
    assert answer["stdout"] == ("of the image\nbin\ndev\netc\nlib\nlib64\nproc\ntmp\nusr\n"
                                "main.sh\n")


def test_an_image_that_cannot_be_warm_runs_cold(run_json, image):
    """A preloaded library cannot be loaded into a statically linked program."""
    shell = image / "usr/bin/sh"
    source = image.parent / "sh.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts("static"); return 0; }\n')
    shell.unlink()
    subprocess.run(["cc", "-static", "-o", shell, source], check=True)
    answer = run_json("--warm", "standby", "--image", image, "sh", "-c", "echo no")
    assert answer["stdout"] == "static\n" and answer["metadata"]["warm"] is False, answer


@pytest.fixture(scope="session")
def debian():
    """debian(suite): the root file system of another Debian, made once and cached."""

    def make(suite):
        root = CACHE / ("%s-python3-minimal" % suite)
        CACHE.mkdir(parents=True, exist_ok=True)
        with open(root.with_suffix(".lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            make_once(root, suite)
        return root

    def make_once(root, suite):
        if not root.exists():
            half = root.with_suffix(".part")
            shutil.rmtree(half, ignore_errors=True)
            subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase",
                            "--include=python3-minimal", suite, half],
                           check=True, timeout=300)
            half.rename(root)

    return make


@pytest.mark.slow  # each image takes a minute to make
@pytest.mark.parametrize("way", ["cold", "standby", "fork"])
@pytest.mark.parametrize("suite", SUITES)
def test_each_python_version_of_an_image_works(run_json, debian, must, is_root, suite, way):
    """One of them is python3-minimal, which has no ctypes."""
    must(is_root, "only root makes such images")
    env = {"DEWAR_WARM": None if way == "cold" else way}
    answers = [run_json("--image", debian(suite), "python", "-c", """
import os, random, sys
print("%d.%d" % sys.version_info[:2], os.path.exists("/etc/debian_version"))
print(__name__, __file__, sys.argv, sys.path[0], os.getppid(), sorted(os.listdir("/tmp")))
print(random.random(), file=sys.stderr)
try:
    import ctypes
except ImportError as error:
    print(error)
raise SystemExit(3)
""", "--", "an argument", env=env) for _ in range(2)]
    for answer in answers:
        assert answer["metadata"]["warm"] is (way != "cold"), answer
        assert answer["exit_code"] == 3
        assert answer["stdout"] == (
            SUITES[suite] + " True\n__main__ /tmp/main.py ['/tmp/main.py', 'an argument'] /tmp 1"
            " ['main.py']\nNo module named 'ctypes'\n")
    assert answers[0]["stderr"] != answers[1]["stderr"]


@pytest.mark.slow
@pytest.mark.parametrize("language, code", [("sh", "cat /etc/debian_version; exit $#"),
                                            ("bash", "cat /etc/debian_version; exit $#"),
                                            ("perl", "open F, '/etc/debian_version'; print <F>")])
@pytest.mark.parametrize("suite", SUITES)
def test_other_languages_of_an_image_work(run_json, debian, must, is_root, suite, language, code):
    must(is_root, "only root makes such images")
    root = debian(suite)
    answer = run_json("--warm", "standby", "--image", root, language, "-c", code)
    assert answer["metadata"]["warm"] is True, answer
    assert answer["stdout"] == (root / "etc/debian_version").read_text()
    assert answer["exit_code"] == 0
