# SPDX-License-Identifier: Apache-2.0
"""Start an engine, stop it, and leave the host as it was."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from engine import api, images

HERE = pathlib.Path(__file__).resolve().parent
CGROUPS = pathlib.Path("/sys/fs/cgroup")
RUNSC = ["--platform=ptrace", "--network=none"]
START_S = 120
STOP_S = 60

# Within its namespaces. The signal comes when the parent ends.
ENTER = ["setpriv", "--pdeathsig", "TERM", "unshare", "--net", "--mount", "--propagation", "slave",
         "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


class CannotStart(Exception):
    """This host has no such engine; the text says why."""


class Engine:
    """An engine that runs. Made by start(), ended by stop()."""

    kind = None
    needs = ()

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.socket = str(self.folder / "engine.sock")
        self.api = api.Api(self.socket)
        self.process = None
        self.netns = None

    @property
    def host(self):
        """For DOCKER_HOST."""
        return "unix://" + self.socket

    def command(self):
        """Write what it needs below the folder; what to execute, and with which environment."""
        raise NotImplementedError

    def start(self):
        missing = [name for name in self.needs if not shutil.which(name)]
        if missing:
            raise CannotStart("%s: not installed: %s (tools/setup.sh test-all installs them)"
                              % (self.kind, ", ".join(missing)))
        if os.geteuid() != 0:
            raise CannotStart("%s: only root can start an engine with namespaces of its own"
                              % self.kind)
        self.folder.mkdir(parents=True)
        argv, env = self.command()
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [*ENTER, *argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **env}, start_new_session=True,
                cwd=self.folder)  # conmon leaves a file `oom` where it is
        end = time.monotonic() + START_S
        while not self.api.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                reason = "%s: does not answer; the end of its log: %s" % (self.kind,
                                                                          self.last_words())
                self.stop()
                raise CannotStart(reason)
            time.sleep(0.05)
        self.netns = os.stat("/proc/%d/ns/net" % self.process.pid).st_ino

    def last_words(self):
        text = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        return " | ".join(text.splitlines()[-5:])

    def stop(self):
        """Accepts one that is half made."""
        if self.process is None:
            return
        with contextlib.suppress(OSError, api.ApiError):
            for container in self.api.containers():
                self.api.remove(container)
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        end_all(self.folder)
        # Mounts below it are gone with the last process of their namespace.
        shutil.rmtree(self.folder, ignore_errors=True)

    def inside(self, *argv, **kwargs):
        """A process in its network, as Popen() gives it."""
        return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "nsenter",
                                 "--net=/proc/%d/ns/net" % self.process.pid, "--", *argv], **kwargs)


class Docker(Engine):
    kind = "docker"
    needs = ("dockerd", "containerd", "runc", "unshare", "setpriv", "ip", "mmdebstrap")

    # The second one is what a careless host may have: limits are taken, and not held.
    runtimes = {"runsc": RUNSC, "runsc-loose": [*RUNSC, "--ignore-cgroups"]}

    def command(self):
        config = self.folder / "daemon.json"
        runsc = shutil.which("runsc")
        config.write_text(json.dumps({"shutdown-timeout": 1, "runtimes": {
            name: {"path": runsc, "runtimeArgs": args} for name, args in self.runtimes.items()
        } if runsc else {}}), encoding="utf-8")
        return ["dockerd", "--config-file", config, "--data-root", self.folder / "data",
                "--exec-root", self.folder / "exec", "--pidfile", self.folder / "pid",
                "--cgroup-parent", "/" + self.folder.name, "-H", self.host], {}


class Podman(Engine):
    kind = "podman"
    needs = ("podman", "conmon", "runc", "unshare", "setpriv", "ip", "mmdebstrap")

    def __init__(self, folder):
        super().__init__(folder)
        self.run = pathlib.Path("/run") / self.folder.name  # a long path is refused

    def command(self):
        conf, store, registries = (self.folder / name for name in
                                   ("containers.conf", "storage.conf", "registries.conf"))
        # crun refuses a host with controllers in both versions of cgroups.
        conf.write_text('[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
                        'runtime = "runc"\n[engine.runtimes]\nrunc = ["%s"]\n'
                        '[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = "%s"\n'
                        % (HERE / "runc-clamped", self.folder / "networks"), encoding="utf-8")
        store.write_text('[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s"\n'
                         % (self.folder / "data", self.run), encoding="utf-8")
        registries.write_text('unqualified-search-registries = ["docker.io"]\n'
                              '[[registry]]\nlocation = "127.0.0.1:5000"\ninsecure = true\n',
                              encoding="utf-8")
        return ["podman", "--root", self.folder / "data", "--runroot", self.run,
                "--tmpdir", self.folder / "tmp", "system", "service", "--time=0", self.host], {
            "CONTAINERS_CONF": str(conf), "CONTAINERS_STORAGE_CONF": str(store),
            "CONTAINERS_REGISTRIES_CONF": str(registries), "TMPDIR": str(self.folder)}

    def stop(self):
        super().stop()
        shutil.rmtree(self.run, ignore_errors=True)
        # Its name is the same for every Podman: of use to another one, it is not empty.
        for folder in CGROUPS.glob("*/libpod_parent"):
            remove_cgroups(folder)


KINDS = {"docker": Docker, "podman": Podman}


def start(kind):
    """One that answers and has the images."""
    base = pathlib.Path("/var/tmp")  # TMPDIR is each test process's own, and sockets' paths are short
    sweep(base)
    engine = KINDS[kind](base / ("test-dewar-%d-%s" % (os.getpid(), kind)))
    engine.start()
    try:
        images.provide(engine.api)
    except (OSError, api.ApiError, subprocess.CalledProcessError) as problem:
        engine.stop()
        raise CannotStart("%s: it gets no images: %s" % (kind, problem)) from problem
    except BaseException:
        engine.stop()
        raise
    return engine


def sweep(base):
    """Remove what killed test runs left behind."""
    for folder in base.glob("test-dewar-[0-9]*-*"):
        if not is_alive(int(re.match("test-dewar-([0-9]+)-", folder.name)[1])):
            end_all(folder)
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(pathlib.Path("/run") / folder.name, ignore_errors=True)


def groups_of(folder):
    """Its cgroup, in each hierarchy."""
    return [p for p in (CGROUPS / folder.name, *CGROUPS.glob("*/" + folder.name)) if p.is_dir()]


def processes_of(folder):
    """All that is alive in its cgroups, or has the folder on its command line."""
    found = set()
    for group in groups_of(folder):
        for folder_below, _, _ in os.walk(group):  # which does not mind groups that vanish
            with contextlib.suppress(OSError):
                procs = pathlib.Path(folder_below) / "cgroup.procs"
                found |= set(map(int, procs.read_text(encoding="ascii").split()))
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) + b"/" in path.read_bytes():
                found.add(int(path.parent.name))
    return {pid for pid in found if is_alive(pid) and pid != os.getpid()}


def end_all(folder):
    """Kill what an engine has left, and remove its cgroups."""
    end = time.monotonic() + STOP_S
    while processes_of(folder):
        for pid in processes_of(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert time.monotonic() < end, "left alive: %r" % processes_of(folder)
        time.sleep(0.05)
    for group in groups_of(folder):
        remove_cgroups(group)


def remove_cgroups(folder):
    """It and those below, as far as they are empty."""
    for path, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(path)


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
