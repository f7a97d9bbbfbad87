# SPDX-License-Identifier: Apache-2.0
"""The proof lists the walls that the kernel shows, and the walls hold.

Every attempt has a control at level none, where it must succeed: otherwise it would
prove nothing.
"""

import ctypes
import json
import os
import pathlib
import shutil
import socket
import subprocess

import pytest

from e2e.helpers import (alive, assert_ended, assert_success, brief, fresh_mark, has_cgroups,
                         in_cell_of, is_warm, status_of, wait_until)

pytestmark = pytest.mark.privilege

NAMESPACES = {"user": "user", "mount": "mnt", "pid": "pid", "net": "net", "ipc": "ipc",
              "uts": "uts", "cgroup": "cgroup"}
CAPABILITIES = {"effective": "CapEff", "permitted": "CapPrm", "inheritable": "CapInh",
                "bounding": "CapBnd", "ambient": "CapAmb"}
NONE = "0" * 16

all_levels = pytest.mark.parametrize("level", ["container", "process", "none"])


@pytest.fixture(scope="session")
def inside(run_json):
    """inside(level, code, *args): the result, and the JSON that the code printed."""

    def run_inside(level, code, *args, options=()):
        r = run_json("--level", level, *options, "python", "-c", "import json, os, sys\n" + code,
                     "--", *map(str, args))
        assert_success(r)
        return r, json.loads(r["stdout"])

    return run_inside


# ---- the proof agrees with what the program sees ----

LOOK = """
import socket
def read(path):
    with open(path) as f: return f.read()
status = dict(line.split(':\\t', 1) for line in read('/proc/self/status').splitlines())
root = os.statvfs('/')
print(json.dumps({
    'namespaces': {n: os.stat('/proc/self/ns/' + n).st_ino for n in
                   ('user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup')},
    'status': {k: v.strip() for k, v in status.items()},
    'uid': os.getuid(), 'gid': os.getgid(), 'groups': os.getgroups(),
    'uid_map': read('/proc/self/uid_map').split(), 'gid_map': read('/proc/self/gid_map').split(),
    'interfaces': [name for _, name in socket.if_nameindex()],
    'root_read_only': bool(root.f_flag & os.ST_RDONLY),
}))
"""


@pytest.mark.core
@all_levels
def test_the_proof_agrees_with_what_the_program_sees(inside, level):
    r, seen = inside(level, LOOK)
    walls = r["proof"]["walls"]
    assert r["proof"]["requested"] == r["proof"]["achieved"] == level
    assert r["metadata"]["sandbox_level"] == level
    assert r["metadata"]["sandbox"] is (level != "none")

    for name, file in NAMESPACES.items():
        ours = os.stat("/proc/self/ns/" + file).st_ino
        assert walls["namespaces"][name] is (seen["namespaces"][file] != ours), name
    for name, field in CAPABILITIES.items():
        assert walls["capabilities"][name] == seen["status"][field], name
    assert walls["uid"] == seen["uid"] and walls["gid"] == seen["gid"]
    assert walls["no_new_privs"] is (seen["status"]["NoNewPrivs"] == "1")
    assert walls["seccomp"]["mode"] == int(seen["status"]["Seccomp"])
    assert walls["seccomp"]["filters"] == int(seen["status"]["Seccomp_filters"])
    assert walls["root_read_only"] is seen["root_read_only"]
    assert walls["network"]["interfaces"] == len(set(seen["interfaces"]) - {"lo"})
    assert (walls["network"]["routes"] == 0) is (level == "container")


def kernel_landlock():
    """The version that landlock_create_ruleset() returns, or 0 without Landlock."""
    return max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))


def test_walls_of_level_container(inside, is_root):
    r, seen = inside("container", LOOK)
    walls = r["proof"]["walls"]
    assert set(walls["namespaces"]) == set(NAMESPACES) and all(walls["namespaces"].values())
    assert set(walls["capabilities"].values()) == {NONE}
    assert walls["no_new_privs"] is True
    assert walls["seccomp"]["mode"] == 2 and walls["seccomp"]["filters"] >= 1
    assert (walls["landlock"] or {"abi": 0})["abi"] == kernel_landlock()
    assert walls["root_read_only"] is True
    assert walls["network"] == {"interfaces": 0, "routes": 0}
    assert walls["uid"] == walls["gid"] == 1000

    for ids in (seen["uid_map"], seen["gid_map"]):
        assert ids[0] == "1000" and ids[2] == "1" and len(ids) == 3, "one id, and no more"
    if is_root:
        assert set(seen["groups"]) <= {1000}
    if is_warm():
        # The parent namespace is the zygote's, not the host's.
        assert int(seen["uid_map"][1]) == int(seen["gid_map"][1])
        assert int(seen["uid_map"][1]) in range(1000, 65536)
    elif is_root:
        assert int(seen["uid_map"][1]) > 65536 and int(seen["gid_map"][1]) > 65536
    else:
        assert int(seen["uid_map"][1]) == os.getuid()
        assert int(seen["gid_map"][1]) == os.getgid()


def ids_on_the_host(dewar):
    """The ids and groups of a program that waits for input, read from outside."""
    mark = fresh_mark()
    with subprocess.Popen([dewar, "run", "python", "-c", "input()", "--", mark],
                          stdin=subprocess.PIPE) as process:
        pid = wait_until(lambda: alive(mark) or in_cell_of(process.pid), "the program")[0]
        status = status_of(pid)
        process.communicate(b"\n")
    return {int(n) for n in (status["Uid"] + " " + status["Gid"]).split()}, status["Groups"].split()


def test_cells_of_root_have_distinct_ids(dewar, is_root):
    seen = [ids_on_the_host(dewar) for _ in range(3)]
    if is_root:
        assert all(len(ids) == 1 and min(ids) > 65536 and not groups for ids, groups in seen), seen
        assert len({min(ids) for ids, _ in seen}) == 3
    else:
        assert all(ids == {os.getuid(), os.getgid()} for ids, _ in seen), seen


def test_walls_of_level_process(inside):
    r, _ = inside("process", LOOK)
    walls = r["proof"]["walls"]
    assert not any(walls["namespaces"].values())
    assert all(walls["capabilities"][name] == NONE for name in CAPABILITIES if name != "bounding")
    assert walls["no_new_privs"] is True
    assert walls["seccomp"]["mode"] == 2 and walls["seccomp"]["filters"] >= 1
    assert (walls["landlock"] or {"abi": 0})["abi"] == kernel_landlock()
    assert walls["uid"] == os.getuid() and walls["root_read_only"] is False
    assert r["metadata"]["sandbox_network"] is True


def test_walls_of_level_none(inside):
    """The proof is read from the kernel and is not a constant."""
    r, _ = inside("none", LOOK)
    walls = r["proof"]["walls"]
    assert not any(walls["namespaces"].values())
    assert walls["seccomp"] == {"mode": 0, "filters": 0}
    assert walls["landlock"] is None
    assert walls["no_new_privs"] is False and walls["root_read_only"] is False
    assert walls["uid"] == os.getuid()


def test_the_limits_of_the_proof_are_in_the_kernel(dewar):
    """Read from outside, while the program waits for input."""
    mark = fresh_mark()
    with subprocess.Popen([dewar, "run", "--json", "--memory", "100M", "--cpus", "0.75", "--pids",
                           "33", "--files", "77", "python", "-c", "input()", "--", mark],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pid = wait_until(lambda: alive(mark) or in_cell_of(process.pid), "the program")[0]
        rlimits = pathlib.Path("/proc/%d/limits" % pid).read_text(encoding="utf-8").splitlines()
        held = cgroup_limits(pid)
        limits = json.loads(process.communicate(b"\n")[0])["proof"]["limits"]

    rlimits = {line[:26].strip(): line[26:].split()[:2] for line in rlimits}
    assert rlimits["Max open files"] == ["77", "77"] and limits["files"]["kernel"] == 77
    assert rlimits["Max core file size"] == ["1", "1"]
    if has_cgroups():
        assert held == {"memory": 100 << 20, "cpu": 75, "pids": 33 + 1}, "init is one of the pids"
        assert limits["memory"]["kernel"] == held["memory"]
        assert limits["cpu"]["kernel"] == held["cpu"]
        assert limits["pids"]["kernel"] == held["pids"] - 1
    else:
        # Init counts as one, and the rlimit permits one more than requested, so that init
        # detects a program that exceeds the limit.
        assert rlimits["Max processes"] == ["35", "35"] and limits["pids"]["kernel"] == 34
        assert "one process more" in limits["pids"]["note"]


def cgroup_limits(pid):
    """The limits of a process's cgroups, of version 1 or 2."""
    held = {}
    for line in pathlib.Path("/proc/%d/cgroup" % pid).read_text().splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(",") if names else ["unified"]:
            for base in ("/sys/fs/cgroup/" + name, "/sys/fs/cgroup"):
                folder = pathlib.Path(base + path)
                for file, key in (("memory.limit_in_bytes", "memory"), ("memory.max", "memory"),
                                  ("pids.max", "pids")):
                    if (folder / file).exists():
                        held[key] = int((folder / file).read_text())
                if (folder / "cpu.cfs_quota_us").exists():
                    held["cpu"] = (100 * int((folder / "cpu.cfs_quota_us").read_text())
                                   // int((folder / "cpu.cfs_period_us").read_text()))
                elif (folder / "cpu.max").exists():
                    quota, period = map(int, (folder / "cpu.max").read_text().split())
                    held["cpu"] = 100 * quota // period
    return held


# ---- the walls hold ----

TRY = """
def attempt(what):
    try: what()
    except OSError as e: return e.errno
    return 0
"""


def refused(got):
    return got != 0


@pytest.mark.parametrize("folder", ["/usr", "/usr/bin", "/etc", "/", "/usr/lib", "/dev", "/proc"])
def test_cell_cannot_write_outside_tmp(inside, folder):
    code = TRY + "print(attempt(lambda: open(sys.argv[1] + '/dewar-probe', 'w')))"
    _, got = inside("container", code, folder)
    assert got in (1, 2, 13, 30), os.strerror(got)


@pytest.mark.parametrize("level", ["container", "process"])
def test_cell_cannot_write_to_the_host(inside, tmp_path, level):
    tmp_path.chmod(0o777)
    code = TRY + "print(attempt(lambda: open(sys.argv[1], 'w')))"
    assert refused(inside(level, code, tmp_path / "f")[1])
    assert not (tmp_path / "f").exists()

    assert inside("none", code, tmp_path / "f")[1] == 0
    assert (tmp_path / "f").exists()


@pytest.mark.core
@pytest.mark.parametrize("level", ["container", "process"])
def test_cell_cannot_read_a_flag(inside, must, tmp_path, level):
    flag = tmp_path / "flag"
    flag.write_text("secret")
    code = TRY + "print(json.dumps(attempt(lambda: open(sys.argv[1]).read())))"
    r, outcome = inside(level, code, flag)
    if level == "process" and r["proof"]["walls"]["landlock"] is None:
        assert any("Landlock" in text for text in r["warnings"]), r["warnings"]
        must(False, "files are Landlock's alone to hold at this level")
    assert refused(outcome)
    assert inside("none", code, flag)[1] == 0


@pytest.fixture
def witness():
    """A process of our own user outside of all cells, which must survive."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        died = process.poll() is not None
        process.kill()
    assert not died, "the witness was killed"


@pytest.mark.core
def test_cell_cannot_see_processes_of_the_host(inside, witness):
    code = TRY + """
pid = int(sys.argv[1])
def start(pid):
    try:
        with open('/proc/%s/cmdline' % pid) as file: return file.read()
    except OSError:
        return None
pids = sorted(int(p) for p in os.listdir('/proc') if p.isdigit())
print(json.dumps([attempt(lambda: os.kill(pid, 0)), attempt(lambda: os.stat('/proc/%d' % pid)),
                  pids, [p for p in pids if start(p) == start('self')]]))
"""
    _, (kill, look, pids, kin) = inside("container", code, witness)
    assert kill == 3 and look == 2, "ESRCH and ENOENT: it is not visible"
    assert set(pids) <= {1, *kin}, pids  # init and itself
    assert len(kin) <= 1 + is_warm(), kin  # a forked program has a holder of its memory

    _, (kill, look, pids, _) = inside("none", code, witness)
    assert kill == look == 0 and witness in pids


def test_cell_cannot_signal_processes_of_the_host(inside, witness, must):
    """At level process they are visible, but Landlock (version 6) blocks signals to them."""
    must(kernel_landlock() >= 6, "this kernel's Landlock does not scope signals")
    code = TRY + "print(attempt(lambda: os.kill(int(sys.argv[1]), 0)))"
    assert inside("process", code, witness)[1] == 1
    assert inside("none", code, witness)[1] == 0


def test_cell_cannot_reach_a_listener_of_the_host(inside):
    code = TRY + """
import socket
print(attempt(lambda: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2).close()))
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert refused(inside("container", code, port)[1])
        assert inside("none", code, port)[1] == 0


def test_cell_cannot_reach_an_abstract_socket_of_the_host(inside):
    code = TRY + """
import socket
s = socket.socket(socket.AF_UNIX)
print(attempt(lambda: s.connect('\\0' + sys.argv[1])))
"""
    name = fresh_mark()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name)
        server.listen()
        assert refused(inside("container", code, name)[1])
        assert inside("none", code, name)[1] == 0


@pytest.mark.core
def test_cell_cannot_mount_or_unshare(inside):
    """The control creates its own namespaces, so that the host's stay unchanged."""
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    return ctypes.get_errno() if getattr(libc, name)(*args) < 0 else 0
NEWNS, NEWUSER, NEWNET = 0x20000, 0x10000000, 0x40000000
got = {'unshare': call('unshare', NEWUSER | NEWNS)}
if got['unshare'] == 0 or sys.argv[1] == 'cell':
    got['mount'] = call('mount', b'none', b'/tmp', b'tmpfs', 0, None)
got['unshare net'] = call('unshare', NEWUSER | NEWNET)
print(json.dumps(got))
"""
    for level in ("container", "process"):
        _, got = inside(level, code, "cell")
        assert len(got) == 3 and all(map(refused, got.values())), (level, got)
    assert inside("none", code, "host")[1]["unshare"] == 0


def test_a_setuid_program_gives_a_cell_no_privilege(inside, must):
    su = shutil.which("su", path="/usr/bin:/bin")
    must(su and os.stat(su).st_mode & 0o4000, "there is no setuid program here")
    code = """
import subprocess, time
p = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)
def read(name):
    return open('/proc/%d/%s' % (p.pid, name)).read()
# Popen returns when exec closes files; exec then changes the ids, and after that sets the
# command line. A process that has ended has no command line.
end = time.monotonic() + 8
while not read('cmdline').startswith(sys.argv[1]) and 'State:\\tZ' not in read('status'):
    assert time.monotonic() < end
    time.sleep(0.01)
status = read('status')
p.kill()
print([line.split()[1:] for line in status.splitlines() if line.startswith('Uid:')][0][1])
"""
    assert inside("container", code, su)[1] == 1000
    assert inside("process", code, su)[1] == os.getuid()
    assert inside("none", code, su)[1] == 0  # for root this is always true


def test_a_cell_does_not_see_the_callers_environment(run_json):
    for level in ("container", "process", "none"):
        r = run_json("--level", level, "python", "-c",
                     "import os; print(open('/proc/self/environ').read(), os.environ)",
                     env={"SECRET_TOKEN": "hunter2"})
        assert_success(r)
        assert ("hunter2" in r["stdout"]) is (level == "none"), level


@all_levels
def test_cell_inherits_no_descriptor(dewar, tmp_path, level):
    (tmp_path / "secret").write_text("secret")
    with open(tmp_path / "secret", encoding="utf-8") as secret:
        os.set_inheritable(secret.fileno(), True)
        done = subprocess.run(
            [dewar, "run", "--level", level, "python", "-c",
             "import os; print(*sorted(os.listdir('/proc/self/fd'), key=int))"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, pass_fds=[secret.fileno()],
            check=True)
    # The fourth is the listed folder itself.
    assert done.stdout.split() == [b"0", b"1", b"2", b"3"]


# ---- which level ----

NO_ENGINE = {"DOCKER_HOST": "unix:///no/such.sock"}


@pytest.mark.parametrize("args", [("--runtime", "runsc"), ("--pull", "always")])
def test_options_of_an_engine_are_refused_at_other_levels(run_json, args):
    r = run_json(*args, "sh", "-c", "echo ran")
    assert_ended(r, "error", "unavailable", "level docker")
    assert r["stdout"] == ""


@pytest.mark.parametrize("asked,achieved", [
    ("container,process", "container"), ("process,container", "process"),
    ("none", "none"), ("microvm,process", "process"), ("docker,microvm,container", "container"),
])
def test_the_first_available_level_is_used(run_json, asked, achieved):
    r = run_json("--level", asked, "python", "-c", "print(1)", env=NO_ENGINE)
    assert_success(r)
    assert r["proof"]["requested"] == asked
    assert r["proof"]["achieved"] == r["metadata"]["sandbox_level"] == achieved


@pytest.mark.parametrize("level", ["docker", "microvm", "microvm,docker"])
def test_an_unavailable_level_is_refused(run, run_json, level):
    r = run_json("--level", level, "python", "-c", "print('ran')", env=NO_ENGINE)
    assert_ended(r, "error", "unavailable")
    assert any(name in r["hint"] for name in level.split(",")), brief(r)
    assert r["metadata"]["ok"] is False and r["exit_code"] is None and r["stdout"] == ""
    assert r["proof"]["achieved"] is None, r["proof"]

    done = run("run", "--level", level, "python", "-c", "print('ran')", env=NO_ENGINE)
    assert done.returncode == 125 and done.stdout == b""
    assert done.stderr.startswith(b"dewar: ") and done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("env,achieved", [
    ({}, "container"),
    ({"DEWAR_LEVEL": "process"}, "process"),
    ({"CODE_EXEC_SANDBOX": "process"}, "process"),
    ({"CODE_EXEC_SANDBOX": "none"}, "none"),
    ({"DEWAR_LEVEL": "container", "CODE_EXEC_SANDBOX": "none"}, "container"),
    ({"DEWAR_LEVEL": "", "CODE_EXEC_SANDBOX": "process"}, "process"),
    ({"DEWAR_LEVEL": "microvm,process"}, "process"),
])
def test_level_from_the_environment(run_json, env, achieved):
    r = run_json("sh", "-c", ":", env=env)
    assert_success(r)
    assert r["proof"]["achieved"] == achieved
    # The command line overrides it.
    assert run_json("--level", "process", "sh", "-c", ":",
                    env=env)["proof"]["achieved"] == "process"


def test_an_unavailable_level_from_the_environment_is_refused(run_json):
    r = run_json("sh", "-c", "echo ran", env={"CODE_EXEC_SANDBOX": "docker", **NO_ENGINE})
    assert_ended(r, "error", "unavailable", "docker")
    assert r["stdout"] == ""


# ---- never a weaker level in silence ----

@pytest.fixture(params=["root", "user"])
def without_namespaces(request, dewar, must):
    """Run dewar inside a user namespace in which no further one can be created."""
    ids = {"root": ["--map-root-user"],
           "user": ["--map-user=1000", "--map-group=1000"]}[request.param]
    script = ("echo 0 > /proc/sys/user/max_user_namespaces && "
              "exec setpriv --ambient-caps=-all --inh-caps=-all \"$@\"")
    wrap = ["unshare", "--user", "--keep-caps", *ids, "sh", "-c", script, "sh"]
    must(subprocess.run([*wrap, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0,
         "this host has no user namespaces to begin with")
    assert subprocess.run([*wrap, "unshare", "--user", "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode != 0

    def run_without(*args):
        return subprocess.run([*wrap, dewar, *args], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30,
                              check=False)

    return run_without


def test_without_namespaces_container_is_unavailable(without_namespaces):
    done = without_namespaces("run", "--json", "python", "-c", "print('ran')")
    r = json.loads(done.stdout)
    assert_ended(r, "error", "unavailable", "max_user_namespaces")
    assert r["stdout"] == "" and r["metadata"]["ok"] is False and done.returncode == 125

    done = without_namespaces("run", "python", "-c", "print('ran')")
    assert done.returncode == 125 and done.stdout == b""
    assert b"max_user_namespaces" in done.stderr


def test_without_namespaces_a_weaker_level_must_be_named_and_is_reported(without_namespaces):
    r = json.loads(without_namespaces("run", "--json", "--level", "container,process", "python",
                                      "-c", "print('ran')").stdout)
    assert_success(r)
    assert r["stdout"] == "ran\n"
    assert r["proof"]["requested"] == "container,process"
    assert r["proof"]["achieved"] == r["metadata"]["sandbox_level"] == "process", brief(r)
    assert not any(r["proof"]["walls"]["namespaces"].values())


def test_without_namespaces_the_doctor_names_the_sysctl(without_namespaces):
    done = without_namespaces("doctor")
    assert done.returncode == 1
    commands = [line.strip() for line in done.stdout.decode().splitlines() if line[0] == " "]
    assert "sysctl -w user.max_user_namespaces=10000" in commands, "exactly as it must be typed"
