# SPDX-License-Identifier: Apache-2.0
"""The request to the engine, the state of engine and kernel, and the proof agree."""

import contextlib
import json
import os
import pathlib
import re

import pytest

from e2e.helpers import assert_success, brief, status_of, wait_until
from e2e.test_proof import cgroup_limits
from engine.api import ApiError, short

RUNC = ("docker", "podman")
LIMITS = ("--memory", "100M", "--cpus", "0.75", "--pids", "99", "--files", "77", "--tmp", "8M")
# One or two processes in the container are Dewar's own.
OURS_MAX = 4


class Waiting:
    """A run whose program waits for input, and the engine's description of its container."""

    def __init__(self, engine, *options, code="", host=None):
        self.engine = engine
        self.before = engine.api.containers()
        code = "input()\n" + code
        self.cell = engine.popen("--json", *options, "python", "-c", code, host=host)

    def __enter__(self):
        self.cell.__enter__()
        self.id = wait_until(lambda: self.engine.api.containers() - self.before,
                             "the container").pop()
        self.seen = wait_until(self.running, "its start")
        return self

    def running(self):
        """The engine's description of the container once it runs. Docker may list a container
        before it can describe it."""
        assert self.cell.poll() is None, self.cell.communicate()
        with contextlib.suppress(ApiError):
            seen = self.engine.api.inspect(self.id)
            return seen if seen["State"]["Running"] else None

    def end(self):
        """End the run and return its result."""
        return json.loads(self.cell.communicate(b"\n", timeout=60)[0])

    def __exit__(self, *exc):
        if self.cell.poll() is None:
            self.cell.terminate()
        self.cell.__exit__(*exc)


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def waiting(engine, workspace):
    with Waiting(engine, *LIMITS, "--workspace", workspace) as found:
        yield found


def test_the_container_has_every_wall(waiting, engine):
    host, config = waiting.seen["HostConfig"], waiting.seen["Config"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["Privileged"] is False
    assert not host["CapAdd"]
    if engine.kind == "docker":
        assert host["CapDrop"] == ["ALL"]
        assert "IpcMode" in host and host["IpcMode"] in ("private", "none")
    else:  # gVisor lists them
        assert len(host["CapDrop"]) > 10 or "ALL" in host["CapDrop"]
    assert any(o.startswith("no-new-privileges") and not o.endswith("false")
               for o in host["SecurityOpt"]), host["SecurityOpt"]
    assert not any("unconfined" in o for o in host["SecurityOpt"])
    assert not host["Devices"] and not host["PortBindings"]
    assert host["PidMode"] in ("", "private") and host["UsernsMode"] in ("", "private")
    assert host["UTSMode"] in ("", "private")
    assert host["RestartPolicy"]["Name"] in ("", "no")
    assert re.fullmatch(r"65534(:65534)?", config["User"]), config["User"]
    assert config["Tty"] is False


def test_the_container_has_every_limit(waiting):
    host = waiting.seen["HostConfig"]
    assert host["Memory"] == host["MemorySwap"] == 100 << 20
    share = (host["NanoCpus"] / 1e9 if host["NanoCpus"] else
             host["CpuQuota"] / (host["CpuPeriod"] or 100000))
    assert share == pytest.approx(0.75)
    assert 99 <= host["PidsLimit"] <= 99 + OURS_MAX
    assert host["LogConfig"]["Type"] == "none"
    tmp = host["Tmpfs"]["/tmp"].split(",")
    assert {"nosuid", "nodev"} <= set(tmp), tmp
    assert any(re.fullmatch("size=(8388608|8192k|8m)", o) for o in tmp), tmp


def test_only_the_workspace_and_dewars_own_files_are_mounted(waiting, workspace):
    """None of the mounts is writable."""
    mounts = [m for m in waiting.seen["Mounts"] if m["Type"] == "bind"]
    by_place = {m["Destination"]: m for m in mounts}
    assert by_place["/work"]["Source"] == str(workspace) and by_place["/work"]["RW"] is False
    for place, mount in by_place.items():
        assert mount["RW"] is False, mount
        if place != "/work":
            # Dewar's guest, and files with host names, which are not those of the host.
            assert place in ("/.dewar/guest", "/etc/hosts", "/etc/resolv.conf"), mount
            assert os.path.isfile(mount["Source"]) and mount["Source"] != place, mount
    assert not [m for m in waiting.seen["Mounts"] if m["Type"] == "volume"]


def test_labels_name_the_run(waiting):
    labels = waiting.seen["Config"]["Labels"]
    r = waiting.end()
    assert r["id"] in labels.values(), labels
    assert all(name.startswith("dev.dewar") or "dewar" not in name for name in labels)


def test_the_engine_does_not_store_the_code(engine):
    """Other users of the engine could read it there; a program sees only its own command line."""
    secret = "secret_value_of_a_variable"
    with Waiting(engine, "--env", "A=" + secret, code="print('in the code')") as run:
        text = json.dumps(run.seen)
        run.end()
    assert "in the code" not in text and secret not in text


# ---- the proof ----

@pytest.mark.engines(*RUNC)
def test_the_proof_agrees_with_the_kernel(engine):
    """Read from outside, from the container's processes while they run."""
    with Waiting(engine, *LIMITS) as run:
        pid = run.seen["State"]["Pid"]
        held = cgroup_limits(pid)
        swap = swap_limit(pid)
        walls_outside = status_of(pid)
        net = os.stat("/proc/%d/ns/net" % pid).st_ino
        r = run.end()
    assert_success(r)
    limits, walls = r["proof"]["limits"], r["proof"]["walls"]
    assert held["memory"] == limits["memory"]["kernel"] == limits["memory"]["asked"] == 100 << 20
    assert swap in (None, held["memory"]), "memory and swap together, or no swap at all"
    assert held["cpu"] == limits["cpu"]["kernel"] == limits["cpu"]["asked"] == 75
    assert held["pids"] - OURS_MAX <= limits["pids"]["kernel"] <= held["pids"]
    assert limits["pids"]["kernel"] == 99
    assert limits["files"]["kernel"] == 77 and limits["tmp"]["kernel"] == 8 << 20
    assert all(limit["enforced"] for limit in limits.values()), limits

    assert net != os.stat("/proc/self/ns/net").st_ino
    assert walls["uid"] == walls["gid"] == 65534
    assert set(walls["capabilities"].values()) == {"0" * 16}
    assert int(walls_outside["CapBnd"], 16) == 0
    assert walls["no_new_privs"] is True and walls["root_read_only"] is True
    assert walls["network"] == {"interfaces": 0, "routes": 0}
    assert walls["seccomp"]["mode"] == 2
    assert all(walls["namespaces"][n] for n in ("mount", "pid", "net", "ipc", "uts"))
    # For root no engine creates a user namespace, and the proof says so.
    user = os.stat("/proc/self/ns/user").st_ino
    assert walls["namespaces"]["user"] is (user_ns_of(engine) != user)


def swap_limit(pid):
    """The kernel's limit of memory and swap; None if the kernel does not account for swap."""
    for line in pathlib.Path("/proc/%d/cgroup" % pid).read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        old = pathlib.Path("/sys/fs/cgroup/memory" + path + "/memory.memsw.limit_in_bytes")
        new = pathlib.Path("/sys/fs/cgroup" + path)
        if names == "memory" and old.exists():
            return int(old.read_text(encoding="ascii"))
        if names == "" and (new / "memory.swap.max").exists():
            return sum(int((new / name).read_text(encoding="ascii"))
                       for name in ("memory.max", "memory.swap.max"))
    return None


def user_ns_of(engine):
    with Waiting(engine) as run:
        found = os.stat("/proc/%d/ns/user" % run.seen["State"]["Pid"]).st_ino
        run.end()
    return found


def test_the_proof_agrees_with_what_the_program_sees(engine):
    code = """
import json, os, socket
status = dict(l.split(':\\t', 1) for l in open('/proc/self/status').read().splitlines()
              if ':\\t' in l)
print(json.dumps({'status': {k: v.strip() for k, v in status.items()}, 'uid': os.getuid(),
                  'gid': os.getgid(), 'interfaces': [n for _, n in socket.if_nameindex()],
                  'ro': bool(os.statvfs('/').f_flag & os.ST_RDONLY)}))
"""
    r = engine.python(code)
    assert_success(r)
    walls, seen = r["proof"]["walls"], json.loads(r["stdout"])
    for name, field in (("effective", "CapEff"), ("permitted", "CapPrm"), ("bounding", "CapBnd"),
                        ("inheritable", "CapInh")):
        assert walls["capabilities"][name] == seen["status"][field], name
    assert (walls["uid"], walls["gid"]) == (seen["uid"], seen["gid"])
    if not engine.runtime:
        assert walls["no_new_privs"] is (seen["status"]["NoNewPrivs"] == "1")
        assert walls["seccomp"]["mode"] == int(seen["status"]["Seccomp"])
        assert walls["root_read_only"] is seen["ro"]
    assert walls["network"]["interfaces"] == len(set(seen["interfaces"]) - {"lo"})


def test_the_proof_names_image_and_runtime(engine):
    with Waiting(engine) as run:
        has = run.seen["HostConfig"]["Runtime"]
        if engine.kind == "podman":  # there it is always "oci"
            has = engine.api.get("/libpod/containers/%s/json" % run.id)["OCIRuntime"]
        r = run.end()
    assert r["metadata"]["sandbox_image"] == run.seen["Config"]["Image"], brief(r)
    assert short(r["metadata"]["sandbox_image"]) == "python:3.11-slim"
    assert r["proof"]["runtime"] == has == (engine.runtime or "runc"), (has, r["proof"])


# ---- limits that nothing enforces ----

@pytest.mark.engines("docker")
def test_a_runtime_that_enforces_no_limit_is_detected(engine):
    """The engine claims to limit memory, but its runtime is configured not to."""
    options = ("--runtime", "runsc-loose", "--memory", "112M")
    r = engine.python("print('ran')", *options)
    memory = r["proof"]["limits"]["memory"]
    assert memory["enforced"] is False or memory["by"] not in ("cgroup1", "cgroup2"), memory
    assert r["proof"]["limits"]["pids"]["by"] not in ("cgroup1", "cgroup2")
    # The engine's statistics are then those of the whole host.
    assert r["memory_used_mb"] is None or r["memory_used_mb"] < 300, brief(r)
    assert r["cpu_time_ms"] is None or r["cpu_time_ms"] < 20000, brief(r)
    r = engine.python("print('ran')", "--strict", *options)
    assert (r["reason"], r["stdout"]) == ("unavailable", ""), brief(r)


@pytest.mark.engines(*RUNC)
def test_strict_runs_if_all_limits_are_enforced(engine):
    assert_success(engine.python("print('ran')", "--strict"))
