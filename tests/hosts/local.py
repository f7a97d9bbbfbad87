#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Imitate other hosts on this machine, and run core.py in them.

    local.py [--list] [NAME...]      run those, or all, as root; rows go to build/test-logs/hosts

Each host is a private mount namespace, a folder of its own, or an engine that tests/engine
starts: the machine itself is not changed.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from engine import engines, images  # noqa: E402  pylint: disable=wrong-import-position

# An id that no user and no other test process has: without cgroups, limits count the processes of
# a user.
PLAIN = 60000 + os.getpid() % 4000
TIMEOUT_S = 600
PROGRAMS = ["dewar", "dewar-launch", "dewar-docker", "dewar-guest", "dewar-verify",
            "dewar-attacks"]

# The paths that container runtimes mask, and those that they make read-only.
MASK = """
set -e
for path in acpi asound scsi; do
	[ ! -d /proc/$path ] || mount -t tmpfs -o ro none /proc/$path
done
for path in kcore keys timer_list sched_debug interrupts latency_stats; do
	[ ! -f /proc/$path ] || mount --bind /dev/null /proc/$path
done
for path in bus fs irq sys sysrq-trigger; do
	[ ! -e /proc/$path ] || { mount --bind /proc/$path /proc/$path &&
		mount -o remount,bind,ro /proc/$path; }
done
exec "$@"
"""
CHROOT = """
set -e
root=$1
shift
mount -t proc proc "$root/proc"
for path in null zero full random urandom tty; do
	[ -e "$root/dev/$path" ] || : >"$root/dev/$path"
	mount --bind /dev/$path "$root/dev/$path"
done
mkdir -p "$root/bundle"
mount --bind "$BUNDLE" "$root/bundle"
exec chroot "$root" "$@"
"""

# The options that doctor recommends inside a container.
OPEN = {"SecurityOpt": ["seccomp=unconfined", "apparmor=unconfined"], "MaskedPaths": [],
        "ReadonlyPaths": []}


class Bundle:
    """A folder with programs and tests that every user can read, and a folder for rows."""

    def __init__(self, programs, logs):
        self.programs, self.logs = pathlib.Path(programs), pathlib.Path(logs)
        self.stack = contextlib.ExitStack()
        self.engine = None
        self.chroot = None

    def __enter__(self):
        self.folder = pathlib.Path(self.stack.enter_context(
            tempfile.TemporaryDirectory(prefix="test-dewar-hosts-", dir="/var/tmp")))
        self.folder.chmod(0o755)
        bundle = self.folder / "bundle"
        for name in PROGRAMS:
            (bundle / "bin").mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.programs / name, bundle / "bin" / name)
        shutil.copytree(ROOT / "tests" / "hosts", bundle / "hosts",
                        ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run(["chmod", "-R", "go+rX,go-w", bundle], check=True)
        (bundle / "out").mkdir()
        (bundle / "out").chmod(0o777)
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *args):
        self.stack.close()

    def core(self, name, user, at=None):
        """The command that runs core.py; at: the path of the bundle inside the host."""
        at = at or self.folder / "bundle"
        ids = ["setpriv", "--reuid", str(PLAIN), "--regid", str(PLAIN), "--clear-groups",
               "--inh-caps=-all"] if user == "plain" else []
        return [*ids, "/usr/bin/python3", "%s/hosts/core.py" % at, "--dewar", "%s/bin/dewar" % at,
                "--host", name, "--out", "%s/out/%s-%s.json" % (at, name, user)]

    def run(self, argv):
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8",
               "HOME": "/nonexistent", "BUNDLE": str(self.folder / "bundle"),
               "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False, cwd="/")
        return done.returncode, done.stdout.decode(errors="replace")

    def take_row(self, name, user):
        """Copy the row to the logs and return its path; None if core.py wrote none."""
        row = self.folder / "bundle" / "out" / ("%s-%s.json" % (name, user))
        if not row.exists():
            return None
        return pathlib.Path(shutil.copy(row, self.logs / row.name))

    def get_engine(self):
        if self.engine is None:
            self.engine = engines.start("docker")
            self.stack.callback(self.engine.stop)
        return self.engine

    def get_chroot(self):
        if self.chroot is None:
            self.chroot = self.folder / "root"
            self.chroot.mkdir()
            subprocess.run(["tar", "-C", self.chroot, "-xf", images.languages_tar()], check=True)
        return self.chroot


def private(script, *words):
    """Run in a private mount namespace, so that all mounts end with the command."""
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
            *map(str, words)]


def as_it_is(bundle, name, user):
    return bundle.run(private('exec "$@"', *bundle.core(name, user)))


def in_chroot(bundle, name, user):
    return bundle.run(private(CHROOT, bundle.get_chroot(), *bundle.core(name, user, "/bundle")))


def behind_filter(bundle, name, user, what="namespaces"):
    return bundle.run(private('exec "$@"', "/usr/bin/python3",
                              bundle.folder / "bundle" / "hosts" / "refuse.py", what,
                              *bundle.core(name, user)))


def without_landlock(bundle, name, user):
    return behind_filter(bundle, name, user, "landlock")


def with_masked_proc(bundle, name, user):
    return bundle.run(private(MASK, *bundle.core(name, user)))


def in_docker(bundle, name, user, **host):
    api = bundle.get_engine().api
    container = api.create("python:3.11-slim", bundle.core(name, user, "/bundle"),
                           Binds=["%s:/bundle" % (bundle.folder / "bundle")], **host)
    try:
        api.start(container)
        status = api.wait(container)
        return status, b"".join(api.output(container)).decode(errors="replace")
    finally:
        api.remove(container)


def in_open_docker(bundle, name, user):
    return in_docker(bundle, name, user, **OPEN)


HOSTS = {
    "this machine": as_it_is,
    "chroot": in_chroot,
    "seccomp filter": behind_filter,
    "landlock refused": without_landlock,
    "masked proc": with_masked_proc,
    "docker container": in_docker,
    "docker container, opened": in_open_docker,
}


def look(bundle, name, user):
    """Returns core.py's exit status, its output and the row."""
    slug = name.replace(",", "").replace(" ", "-")
    status, text = HOSTS[name](bundle, slug, user)
    return status, text, bundle.take_row(slug, user)


def main():
    words = sys.argv[1:]
    if "--list" in words:
        print("\n".join(HOSTS))
        return 0
    failed = 0
    with Bundle(ROOT / "build", ROOT / "build" / "test-logs" / "hosts") as bundle:
        for name in words or HOSTS:
            for user in ("root", "plain"):
                status, text, _ = look(bundle, name, user)
                print("== %s, %s: %s\n%s" % (name, user, status, "\n".join(
                    line for line in text.splitlines() if not line.startswith("ok "))), flush=True)
                failed += status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
