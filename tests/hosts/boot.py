#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Boot a guest with the build and the tests, run commands there, and fetch their output.

boot.py [--image systemd|plain] [--append WORDS] [--share FOLDER] [--out FOLDER]
        [--user root|plain|service] [--before SHELL] [--limit SECONDS] [--console]
        [--tree FOLDER] -- COMMAND...

  --image    systemd: Debian's, with cgroup v2, and with a manager for user `plain`;
             plain: the same root below our own init, with cgroup v2 in its usual place,
             or with nothing there if --append has dewar.cgroup=none
  --append   adds words to the kernel's command line
  --share    a folder that the guest sees as /dewar/share
  --out      a folder for the files that the command writes to $OUT
  --user     plain: a user in a login session; service: root, as a systemd unit with
             Delegate=yes
  --before   commands that root's shell runs first
  --tree     the checkout whose build and tests are in the guest; the default is this one

The guest's only interface is not connected. The second disk is mounted read-only at /dewar and
contains build/, tests/, docs/, include/, packaging/; the command starts there with DEWAR,
DEWAR_EXAMPLE and OUT set. The exit status is that of the command, or 125 if the guest did not run
it; then the end of its console is printed.
"""

import argparse
import dataclasses
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import image as images  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
QEMU = "qemu-system-x86_64"
PROGRAMS = ["ask-approval", "ask-hook", "dewar", "dewar-*", "example-hello", "libdewar.so*"]
FIXTURES = "dewar-serve-fixtures"
TREES = ["include", "packaging", "tests", "docs/man", "docs/THREAT_MODEL.md"]
OUT_SIZE = 256 << 20

# Both kinds of guest run this as root.
MAIN = r"""#!/bin/sh
PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
export PATH
say() { echo "guest: $*" >/dev/console; }
log_in() { timeout -k 5 "$3" su -l "$1" -c "bash $2"; }
as_root() {
	if [ -d /run/systemd/system ]; then log_in root "$@"; else timeout -k 5 "$2" bash "$1"; fi
}
as_service() { systemd-run -q --wait --pipe --collect -p Delegate=yes timeout -k 5 "$2" bash "$1"; }
as_plain() {
	if [ -d /run/systemd/system ]; then
		log_in plain "$@"
	else
		timeout -k 5 "$2" setpriv --reuid plain --regid plain --init-groups --inh-caps=-all \
			env -i HOME=/home/plain USER=plain PATH=/usr/local/bin:/usr/bin:/bin bash "$1"
	fi
}
job() { # NAME WAY LIMIT
	mkdir -p "/out/$1/files"
	chmod 1777 "/out/$1/files"
	say "$1 starts at $(cut -d' ' -f1 /proc/uptime) s"
	{ "as_$2" "/dewar/guest/job-$1" "$3"; echo $? >"/out/$1/status"; } \
		</dev/null 2>&1 | tee "/out/$1/output" >/dev/vport0p1
	say "$1 ends at $(cut -d' ' -f1 /proc/uptime) s with $(cat "/out/$1/status")"
}
mkdir -p /out
cd /dewar
# A host has an interface and a route; no machine is at the other end of this one.
modprobe dummy numdummies=1 && ip address add 192.0.2.2/24 dev dummy0 &&
	ip link set dummy0 up && ip route add default via 192.0.2.1 || say "no interface"
"""
END = r"""
tar -C /out -cf /dev/vdc .
sync
say "powers off"
poweroff -f -f 2>/dev/null || poweroff -f
"""

# The first program of a guest without systemd.
INIT = r"""#!/bin/sh
PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
export PATH
mount -t proc proc /proc
mount -t sysfs sys /sys
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
grep -qw dewar.cgroup=none /proc/cmdline || mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
hostname guest
exec </dev/null >/dev/console 2>&1
sh /dewar/guest/main
"""


class CannotBoot(Exception):
    """Says why, with the end of the console."""


@dataclasses.dataclass
class Job:
    """One command in a guest."""
    name: str
    command: list
    user: str = "root"
    before: str = ""  # commands that root's shell runs first
    limit: int = 300


@dataclasses.dataclass
class Done:
    """The outcome of a Job."""
    name: str
    status: int
    output: str
    files: pathlib.Path


def boot(jobs, out, image="systemd", append="", share=None, tree=ROOT, limit=None, echo=None):
    """Run the jobs in one guest, in order; the files of each are written to out/NAME/files.

    Returns (a list of Done, seconds). echo: a file that gets a copy of the output, or None.
    """
    kernel = images.image()
    if not shutil.which(QEMU):
        raise CannotBoot("there is no %s: run `tools/setup.sh test-all`" % QEMU)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    limit = limit or 90 + sum(job.limit for job in jobs)
    with tempfile.TemporaryDirectory(prefix="dewar-boot-") as scratch:
        scratch = pathlib.Path(scratch)
        write_disk(scratch, pathlib.Path(tree), jobs, share)
        start = time.monotonic()
        run_guest(qemu(kernel, scratch, image, append), scratch, limit, echo)
        seconds = time.monotonic() - start
        shutil.copy(scratch / "console", out / "console")
        return collect(jobs, scratch, out), seconds


def write_disk(scratch, checkout, jobs, share):
    """Make the second disk, and an empty third one for the guest's output files."""
    tree = scratch / "tree"
    (tree / "build").mkdir(parents=True)
    for path in programs(checkout / "build"):
        shutil.copy(path, tree / "build" / path.name, follow_symlinks=False)
    for name in TREES:
        copy = shutil.copytree if (checkout / name).is_dir() else shutil.copy
        (tree / name).parent.mkdir(exist_ok=True)
        copy(checkout / name, tree / name)
    (tree / "share").mkdir()
    if share:
        shutil.copytree(share, tree / "share", dirs_exist_ok=True, symlinks=True)
    write_scripts(tree / "guest", jobs)
    subprocess.run(["chmod", "-R", "go+rX,go-w", tree], check=True)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "0:0", tree], check=True)
    images.make_disk(tree, scratch / "second.ext4")
    shutil.rmtree(tree)
    with open(scratch / "third", "wb") as file:
        file.truncate(OUT_SIZE)


def programs(build):
    """The installed programs and those that tests call, without man pages and objects."""
    return [path for pattern in PROGRAMS for path in sorted(build.glob(pattern))
            if path.is_file() and path.suffix not in (".1", ".p") and path.name != FIXTURES]


def write_scripts(folder, jobs):
    folder.mkdir()
    lines = [MAIN]
    for job in jobs:
        lines += [job.before, "job %s %s %d" % (job.name, job.user, job.limit)]
        env = {"DEWAR": "/dewar/build/dewar", "DEWAR_EXAMPLE": "/dewar/build/example-hello",
               "OUT": "/out/%s/files" % job.name, "LANG": "C.UTF-8",
               "PYTHONDONTWRITEBYTECODE": "1"}
        (folder / ("job-" + job.name)).write_text(
            "cd /dewar\n" + "".join("export %s=%s\n" % item for item in env.items()) +
            "exec " + shlex.join(job.command) + "\n", encoding="utf-8")
    (folder / "main").write_text("\n".join(lines) + END, encoding="utf-8")
    (folder / "init").write_text(INIT, encoding="utf-8")
    (folder / "init").chmod(0o755)


def qemu(kernel, scratch, image, append):
    words = ["console=ttyS0", "panic=-1", "quiet", "mitigations=off", "random.trust_cpu=on",
             "systemd.show_status=no", "net.ifnames=0"]
    if image == "plain":
        words.append("dewar.init=/dewar/guest/init")
    words.append(append)
    return [QEMU, "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "1024", "-nodefaults",
            "-display", "none", "-no-reboot", "-nic", "none",
            "-kernel", kernel / "vmlinuz", "-initrd", kernel / "initramfs",
            "-append", " ".join(words),
            "-serial", "file:%s" % (scratch / "console"),
            "-drive", "file=%s,format=raw,if=virtio,snapshot=on" % (kernel / "root.ext4"),
            "-drive", "file=%s,format=raw,if=virtio,readonly=on" % (scratch / "second.ext4"),
            "-drive", "file=%s,format=raw,if=virtio,cache=unsafe" % (scratch / "third"),
            "-device", "virtio-serial-pci",
            "-chardev", "file,id=output,path=%s" % (scratch / "output"),
            "-device", "virtserialport,chardev=output"]


def run_guest(command, scratch, limit, echo):
    """Run the guest until it powers off; kill it after the time limit."""
    end = time.monotonic() + limit
    (scratch / "output").touch()
    (scratch / "console").touch()
    with open(scratch / "qemu.log", "wb") as log, open(scratch / "output", "rb") as output, \
            subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log,
                             stderr=subprocess.STDOUT) as guest:
        try:
            while True:
                over = ended(guest, 0.2)
                if echo:
                    echo.write(output.read().decode("utf-8", "replace"))
                    echo.flush()
                if over:
                    break
                if time.monotonic() > end:
                    raise CannotBoot("the guest took longer than %d s%s" % (limit, last(scratch)))
        finally:
            guest.kill()
    if guest.returncode != 0:
        raise CannotBoot("%s ended with %d%s" % (QEMU, guest.returncode, last(scratch)))


def ended(process, seconds):
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def last(scratch, lines=40):
    """The last lines of QEMU's messages, of the console and of the output."""
    text = ""
    for name in "qemu.log", "console", "output":
        said = (scratch / name).read_bytes().decode("utf-8", "replace").splitlines()[-lines:]
        if said:
            text += "\n--- %s ends:\n%s" % (name, "\n".join(said))
    return text


def collect(jobs, scratch, out):
    try:
        with tarfile.open(scratch / "third") as tar:
            tar.extractall(out, [entry for entry in tar if is_harmless(entry)])
    except (tarfile.TarError, EOFError):
        raise CannotBoot("the guest brought nothing back" + last(scratch)) from None
    done = []
    for job in jobs:
        try:
            status = int((out / job.name / "status").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise CannotBoot("%s did not end%s" % (job.name, last(scratch))) from None
        output = (out / job.name / "output").read_bytes().decode("utf-8", "replace")
        done.append(Done(job.name, status, output, out / job.name / "files"))
    return done


def is_harmless(entry):
    """Accept only regular files and folders below ours. (tarfile of Debian 12 has no filters.)"""
    path = pathlib.PurePosixPath(entry.name)
    return (entry.isreg() or entry.isdir()) and not path.is_absolute() and ".." not in path.parts


def heed_signals():
    """A signal that ends this process also ends the guest, and leaves nothing behind."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def main():
    heed_signals()
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--image", choices=("systemd", "plain"), default="systemd")
    parser.add_argument("--append", default="")
    parser.add_argument("--share")
    parser.add_argument("--out")
    parser.add_argument("--user", choices=("root", "plain", "service"), default="root")
    parser.add_argument("--before", default="")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--console", action="store_true", help="show the whole console at the end")
    parser.add_argument("--tree", default=ROOT)
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dewar-out-") as scratch:
        try:
            done, seconds = boot([Job("job", args.command, args.user, args.before, args.limit)],
                                 scratch, args.image, args.append, args.share, args.tree,
                                 echo=sys.stdout)
        except (CannotBoot, images.CannotMake) as reason:
            print("boot: %s" % reason, file=sys.stderr)
            return 125
        if args.console:
            sys.stderr.write((pathlib.Path(scratch) / "console").read_text(errors="replace"))
        if args.out:
            shutil.copytree(done[0].files, args.out, dirs_exist_ok=True)
    print("boot: exit status %d, %.1f s with the boot" % (done[0].status, seconds),
          file=sys.stderr)
    return done[0].status


if __name__ == "__main__":
    sys.exit(main())
