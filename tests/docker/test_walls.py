# SPDX-License-Identifier: Apache-2.0
"""The walls of a container that Dewar asked for.

Each attempt has a control in a container of the same engine and image without the wall, where
it must succeed: otherwise it would prove nothing.
"""

import contextlib
import ipaddress
import json
import subprocess

import pytest

from e2e.helpers import assert_success, brief, wait_until
from engine import images

NOBODY = 65534
RUNC = ("docker", "podman")
WARM = True

STATUS = """
import json, os
status = dict(l.split(':\\t', 1) for l in open('/proc/self/status').read().splitlines()
              if ':\\t' in l)
print(json.dumps({k: v.strip() for k, v in status.items()}))
"""


def look(engine, code, *options):
    r = engine.python(code, *options)
    assert_success(r)
    return json.loads(r["stdout"])


def control(engine, code, **host):
    status, out, err = engine.plain_python(code, **host)
    assert status == 0, err
    return json.loads(out)


# ---- files ----

WRITE = """
import json, os
def attempt(path):
    try:
        with open(path + '/dewar-probe', 'w') as f: f.write('x')
        os.unlink(path + '/dewar-probe')
        return True
    except OSError: return False
print(json.dumps([p for p in %r if attempt(p)]))
"""
ROOT_FOLDERS = ["/", "/etc", "/usr", "/usr/bin", "/var", "/var/tmp", "/root", "/home", "/opt",
                "/run", "/srv", "/mnt"]


def test_the_root_is_read_only(engine):
    assert look(engine, WRITE % (ROOT_FOLDERS + ["/tmp"])) == ["/tmp"]
    assert control(engine, WRITE % (ROOT_FOLDERS + ["/tmp"])) == ROOT_FOLDERS + ["/tmp"]


ALL_WRITABLE = """
import json, os
found = []
for folder, folders, files in os.walk('/'):
    folders[:] = [f for f in folders if os.path.join(folder, f) not in ('/proc', '/sys')]
    try:
        with open(folder + '/dewar-probe', 'w') as f: f.write('x')
        os.unlink(folder + '/dewar-probe')
    except OSError: continue
    s = os.statvfs(folder)
    found.append([folder, s.f_blocks * s.f_frsize])
print(json.dumps(found))
"""


def test_every_writable_place_is_small_and_temporary(engine):
    """All writable places together: an engine adds some of its own (/dev/shm)."""
    found = dict(look(engine, ALL_WRITABLE, "--tmp", "8M"))
    assert "/tmp" in found
    assert all(size <= 8 << 20 for size in found.values()), found
    assert "/usr" in dict(control(engine, ALL_WRITABLE))


TMP = """
import json, os
line = [l.split() for l in open('/proc/self/mounts') if l.split()[1] == '/tmp']
s = os.statvfs('/tmp')
print(json.dumps({'mounts': line, 'size': s.f_blocks * s.f_frsize, 'mode': os.stat('/tmp').st_mode,
                  'there': os.listdir('/tmp')}))
"""


def test_tmp_is_a_file_system_of_its_own(engine):
    seen = look(engine, TMP, "--tmp", "8M")
    assert seen["size"] == 8 << 20
    assert seen["mounts"][-1][2] == "tmpfs", seen
    options = seen["mounts"][-1][3].split(",")
    if engine.runtime != "runsc":  # gVisor does not show them; the next two tests try their effect
        assert {"rw", "nosuid", "nodev"} <= set(options), options
    assert control(engine, TMP)["size"] > 8 << 20


FLAGS = "import json, os; print(json.dumps(bool(os.statvfs('/tmp').f_flag & os.ST_NOSUID)))"


@pytest.mark.engines(*RUNC)
def test_tmp_is_nosuid(engine):
    assert look(engine, FLAGS) is True
    assert control(engine, FLAGS) is False


NODE = """
import json, os
os.mknod('/tmp/null', 0o666 | 0o020000, os.makedev(1, 3))
try: print(json.dumps(bool(os.open('/tmp/null', os.O_RDWR))))
except OSError as e: print(json.dumps(False))
"""


@pytest.mark.engines(*RUNC)
def test_no_device_can_be_made(engine):
    r = engine.python(NODE)
    assert r["status"] == "error" and "Operation not permitted" in r["stderr"], brief(r)
    assert control(engine, NODE) is True


DEVICES = """
import json, os, stat
found = []
for name in os.listdir('/dev'):
    try: mode = os.stat('/dev/' + name).st_mode
    except OSError: continue
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode): found.append(name)
print(json.dumps(sorted(found)))
"""
HARMLESS = {"full", "null", "ptmx", "random", "tty", "urandom", "zero", "console",
            "stdin", "stdout", "stderr", "fd"}


def test_no_device_of_the_host_is_there(engine):
    # gVisor has its own kernel and therefore its own devices.
    assert set(look(engine, DEVICES)) <= HARMLESS | ({"fuse"} if engine.runtime else set())
    loop = {"PathOnHost": "/dev/kmsg", "PathInContainer": "/dev/other",
            "CgroupPermissions": "r"}
    if not engine.runtime:
        assert "other" in control(engine, DEVICES, Devices=[loop])


def test_the_engine_is_not_reachable_from_the_container(engine):
    """A program that reaches the engine's socket could become root on the host."""
    code = ("import json, os, stat, sys\nfound = []\nfor folder, folders, files in os.walk('/'):\n"
            "    folders[:] = [f for f in folders if folder + f not in ('/proc', '/sys')]\n"
            "    for f in files:\n"
            "        try: m = os.lstat(os.path.join(folder, f)).st_mode\n"
            "        except OSError: continue\n"
            "        if stat.S_ISSOCK(m): found.append(os.path.join(folder, f))\n"
            "print(json.dumps(found))")
    assert look(engine, code) == []
    if not engine.runtime:  # gVisor shows no socket of the host at all
        assert control(engine, code,
                       Binds=["%s:/run/engine.sock" % engine.engine.socket]) == ["/run/engine.sock"]


# ---- the ids of the program ----

def test_the_program_runs_as_user_nobody(engine):
    code = ("import json, os; print(json.dumps([*os.getresuid(), *os.getresgid(),"
            " [g for g in os.getgroups() if g != %d]]))" % NOBODY)
    assert look(engine, code) == [NOBODY] * 6 + [[]]
    assert control(engine, code)[:6] == [0] * 6


CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def test_no_capability_is_left(engine):
    seen = look(engine, STATUS)
    shown = [name for name in CAPABILITIES if name in seen]
    assert {"CapInh", "CapPrm", "CapEff", "CapBnd"} <= set(shown), "gVisor does not show CapAmb"
    assert {name: int(seen[name], 16) for name in shown} == dict.fromkeys(shown, 0)
    assert int(control(engine, STATUS)["CapEff"], 16) != 0


@pytest.mark.engines(*RUNC)
def test_no_new_privileges(engine):
    assert look(engine, STATUS)["NoNewPrivs"] == "1"
    assert control(engine, STATUS)["NoNewPrivs"] == "0"


@pytest.mark.engines(*RUNC)
def test_system_calls_are_filtered(engine):
    assert look(engine, STATUS)["Seccomp"] == "2"
    assert control(engine, STATUS, SecurityOpt=["seccomp=unconfined"])["Seccomp"] == "0"


# User nobody (65534) starts su, which waits for a password: print its real and effective user.
# Popen() returns while exec() has not yet changed the user, so this reads su's first output.
SU = """
import json, os, subprocess
with subprocess.Popen(['su'], user=None if os.getuid() else 65534, stdin=subprocess.PIPE,
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as su:
    su.stdout.read(1)
    status = open('/proc/%d/status' % su.pid).read()
    su.kill()
print(json.dumps([int(n) for n in status.split('Uid:')[1].split()[:2]]))
"""


def test_a_set_user_id_program_gives_nothing(engine):
    assert look(engine, SU) == [NOBODY, NOBODY]
    if not engine.runtime:  # gVisor ignores the set-user-id bit
        assert control(engine, SU) == [NOBODY, 0]


# ---- processes and files ----

def test_other_processes_are_not_visible(engine):
    code = ("import json, os; print(json.dumps(sorted(int(n) for n in os.listdir('/proc')"
            " if n.isdigit())))")
    assert len(look(engine, code)) <= 3
    if not engine.runtime:
        assert len(control(engine, code, PidMode="host")) > 3


FILES = "import json, resource; print(json.dumps(resource.getrlimit(resource.RLIMIT_NOFILE)))"


def test_the_open_files_limit_is_set(engine):
    assert look(engine, FILES, "--files", "77") == [77, 77]
    assert control(engine, FILES)[1] > 77


# ---- network ----

INTERFACES = "import json, socket; print(json.dumps(sorted(n for _, n in socket.if_nameindex())))"

# Sends a request to the address of argv and prints the answer.
FETCH = """
import json, socket, sys
s = socket.socket(); s.settimeout(5)
try:
    s.connect((%r, 8080)); print(json.dumps(s.recv(100).decode()))
except OSError as e: print(json.dumps('refused'))
"""
SERVE = """
import socket
s = socket.create_server(('', 8080))
print('up', flush=True)
while True:
    c, _ = s.accept(); c.sendall(b'witness'); c.close()
"""


@contextlib.contextmanager
def witness(engine):
    """The address of a server in the engine's network that a container on a bridge can reach."""
    net = engine.api.get("/networks/" + bridge(engine))["IPAM"]["Config"][0]["Subnet"]
    address = str(next(ipaddress.ip_network(net).hosts()))
    with engine.engine.inside("/usr/bin/python3", "-c", SERVE, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout.readline() == b"up\n"
            yield address
        finally:
            server.kill()


def bridge(engine):
    return "bridge" if engine.kind == "docker" else "podman"


def test_no_network(engine):
    assert look(engine, INTERFACES) == ["lo"]
    with witness(engine) as address:
        assert look(engine, FETCH % address) == "refused"
        if not engine.runtime:  # gVisor runs without any network
            assert control(engine, INTERFACES, NetworkMode=bridge(engine)) != ["lo"]
            assert control(engine, FETCH % address, NetworkMode=bridge(engine)) == "witness"


@pytest.mark.engines(*RUNC)
def test_network_full_reaches_the_network(engine):
    with witness(engine) as address:
        r = engine.python(FETCH % address, "--network", "full")
    assert_success(r)
    assert json.loads(r["stdout"]) == "witness"
    assert r["metadata"]["sandbox_network"] is True
    assert r["proof"]["walls"]["network"]["interfaces"] >= 1


def test_the_container_has_its_own_loopback(engine):
    code = """
import json, socket
a = socket.create_server(('127.0.0.1', 8080)); b = socket.create_connection(('127.0.0.1', 8080))
print(json.dumps(True))
"""
    assert look(engine, code) is True


# ---- settings of an image ----

@pytest.mark.engines(*RUNC)
def test_settings_of_an_image_are_overridden(engine):
    """Entry point, command, user, folder and variables are not those of the image."""
    r = engine.json("--image", images.BOSSY, "--tmp", "8M", "sh", "-c", "id; pwd; echo $0")
    assert_success(r)
    lines = r["stdout"].splitlines()
    assert lines[0].startswith("uid=65534") and lines[1] == "/tmp", lines
    assert "entrypoint" not in r["stdout"]


@pytest.mark.engines(*RUNC)
def test_a_volume_of_an_image_is_not_writable(engine):
    """An engine makes a volume writable, and as large as the disk. Such an image may be refused."""
    volumes = engine.api.volumes()
    code = "echo x > /data/x && echo wrote"
    assert engine.plain("sh", "-c", code, image=images.HOLED) == (0, b"wrote\n", b"")
    r = engine.json("--image", images.HOLED, "sh", "-c", code)
    assert "wrote" not in r["stdout"], "a volume is writable"
    assert r["status"] == "error" and (r["reason"] == "exit" or "volume" in r["hint"]), brief(r)
    wait_until(lambda: engine.api.volumes() == volumes, "its volume to go")


@pytest.mark.engines("docker")
def test_a_health_check_of_an_image_is_not_run(engine):
    engine.api.import_image(images.bare_tar(), ["dewar-test/checked:1"],
                            ["HEALTHCHECK --interval=100ms CMD touch /tmp/checked"])
    r = engine.json("--image", "dewar-test/checked:1", "sh", "-c",
                    "sleep 1; ls /tmp")
    assert_success(r)
    assert "checked" not in r["stdout"].split(), brief(r)
    wait = "for i in 1 2 3 4 5 6 7 8 9; do ls /tmp/checked 2>/dev/null && exit; sleep 1; done"
    assert engine.plain("sh", "-c", wait, image="dewar-test/checked:1")[1] == b"/tmp/checked\n"
