#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Make what a guest boots: Debian's stock cloud kernel, an initramfs, and a root image.

They are cached below $DEWAR_CACHE (~/.cache/dewar) in hosts/, in a folder whose name changes with
their sources; the first run makes it, later ones only boot it. Nothing is installed on this
host: the kernel is unpacked from its package, and mmdebstrap makes the root. Needs root.

image.py    make the folder, and print its path
"""

import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUITE = "bookworm"
KERNEL = "linux-image-cloud-amd64"
PACKAGES = ["bash", "bubblewrap", "dbus", "dbus-user-session", "iproute2", "kmod", "libcurl4",
            "libjansson4", "libmicrohttpd12", "libnettle8", "libpam-systemd", "libseccomp2",
            "libsqlite3-0", "libsystemd0", "libtree-sitter0", "libyaml-0-2", "mount", "passwd",
            "perl", "procps", "python3", "python3-pytest", "systemd", "systemd-sysv",
            "util-linux"]
LEFT_OUT = ["/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*"]
USER = "plain"
UID = 1000

# Units that no test needs; each of them makes a boot slower under emulation.
MASKED = ["apt-daily-upgrade.timer", "apt-daily.timer", "dpkg-db-backup.timer",
          "e2scrub_all.timer", "e2scrub_reap.service", "fstrim.timer", "getty.target",
          "kmod-static-nodes.service", "ldconfig.service", "modprobe@.service",
          "serial-getty@.service", "systemd-binfmt.service", "systemd-firstboot.service",
          "systemd-hwdb-update.service", "systemd-journal-catalog-update.service",
          "systemd-journal-flush.service", "systemd-machine-id-commit.service",
          "systemd-modules-load.service", "systemd-network-generator.service",
          "systemd-networkd.service", "systemd-networkd.socket", "systemd-pcrphase.service",
          "systemd-pcrphase-sysinit.service", "systemd-pstore.service",
          "systemd-random-seed.service", "systemd-resolved.service", "systemd-rfkill.service",
          "systemd-rfkill.socket", "systemd-timesyncd.service",
          "systemd-tmpfiles-clean.timer", "systemd-update-done.service",
          "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service",
          "systemd-udev-settle.service", "systemd-udev-trigger.service"]

# Modules for the disks and the console; all others are in the root image.
EARLY = ["virtio_pci", "virtio_blk", "virtio_console"]

BUSYBOX = "/bin/busybox"
APPLETS = ["cat", "echo", "insmod", "mkdir", "mount", "poweroff", "sh", "sleep", "switch_root"]

# The guest's first program. dewar.init= names the second one.
INIT = """#!/bin/sh
fail() { echo "guest: $1"; poweroff -f; }
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for module in $(cat /modules/order); do
	insmod "/modules/$module" || fail "cannot load $module"
done
next=/sbin/init
for word in $(cat /proc/cmdline); do
	case $word in
	dewar.init=*) next=${word#dewar.init=} ;;
	esac
done
mount -t ext4 -o noatime /dev/vda /root || fail "no root image"
mount -t ext4 -o ro /dev/vdb /root/dewar || fail "no second disk"
mount --move /dev /root/dev
exec switch_root /root "$next" || fail "no $next"
"""

# The unit that runs after systemd has started; without systemd the plain init runs the same.
UNIT = """[Unit]
Description=What this guest was booted for
After=basic.target systemd-logind.service systemd-user-sessions.service user@%d.service

[Service]
Type=exec
ExecStart=/bin/sh /dewar/guest/main
StandardOutput=journal+console
StandardError=journal+console
""" % UID


class CannotMake(Exception):
    """The message says what is missing."""


def cache():
    folder = os.environ.get("DEWAR_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "dewar")
    path = pathlib.Path(folder) / "hosts"
    path.mkdir(parents=True, exist_ok=True)
    return path


def key():
    return hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:12]


def image():
    """The folder with vmlinuz, initramfs and root.ext4, made if necessary."""
    path = cache() / ("guest-" + key())
    with open(str(path) + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            check_tools()
            print("making the guests' image: two minutes, and once only", file=sys.stderr)
            part = path.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            make(part)
            part.rename(path)
    return path


def check_tools():
    if os.geteuid() != 0:
        raise CannotMake("only root can make the guests' image")
    for name in "mmdebstrap", "mke2fs", "cpio", "dpkg-deb", BUSYBOX:
        if not shutil.which(name):
            raise CannotMake("there is no %s: run `tools/setup.sh test-all`" % name)


def make(folder):
    with tempfile.TemporaryDirectory(prefix="dewar-hosts-") as scratch:
        scratch = pathlib.Path(scratch)
        unpack_kernel(scratch / "kernel", folder)
        make_root(scratch, folder / "root.ext4")
        make_initramfs(scratch, folder / "initramfs")


def unpack_kernel(tree, folder):
    """Unpack the kernel's package."""
    tree.mkdir()
    package = newest_kernel()
    subprocess.run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package],
                   cwd=tree, check=True, stdin=subprocess.DEVNULL)
    archive, = tree.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, tree], check=True)
    archive.unlink()
    image_file, = (tree / "boot").glob("vmlinuz-*")
    shutil.copyfile(image_file, folder / "vmlinuz")


def newest_kernel():
    says = subprocess.run(["apt-cache", "depends", KERNEL], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout
    found = re.search(r"Depends: (linux-image-\S+)", says)
    if not found:
        raise CannotMake("apt knows no %s: run `apt-get update`" % KERNEL)
    return found[1]


def make_initramfs(scratch, path):
    tree = scratch / "initramfs"
    for name in "bin", "dev", "modules", "proc", "root":
        (tree / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, tree / "bin" / "busybox")
    for name in APPLETS:
        (tree / "bin" / name).symlink_to("busybox")
    modules, = (scratch / "root" / "usr" / "lib" / "modules").iterdir()
    order = load_order((modules / "modules.dep").read_text(encoding="utf-8"))
    for name in order:
        shutil.copy(modules / name, tree / "modules")
    (tree / "modules" / "order").write_text(
        "\n".join(pathlib.Path(name).name for name in order) + "\n", encoding="utf-8")
    (tree / "init").write_text(INIT, encoding="utf-8")
    (tree / "init").chmod(0o755)
    names = "\n".join(str(p.relative_to(tree)) for p in sorted(tree.rglob("*")))
    with open(path, "wb") as file:
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=tree, check=True,
                       input=names.encode(), stdout=file)


def load_order(text):
    """Modules of EARLY and their dependencies, in the order of loading, from modules.dep."""
    needs = {}
    for line in text.splitlines():
        name, _, others = line.partition(":")
        needs[name] = others.split()
    by_name = {pathlib.Path(name).stem.replace("-", "_"): name for name in needs}
    order = []
    for name in EARLY:
        # modules.dep lists all dependencies, the direct ones first.
        for path in [*reversed(needs[by_name[name]]), by_name[name]]:
            if path not in order:
                order.append(path)
    return order


def make_root(scratch, path):
    tree = scratch / "root"
    subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase",
                    "--format=directory", "--include=" + ",".join(PACKAGES),
                    "--dpkgopt=force-unsafe-io", "--aptopt=Acquire::Languages none",
                    *("--dpkgopt=path-exclude=" + path for path in LEFT_OUT), SUITE, tree],
                   check=True, stdin=subprocess.DEVNULL)
    for name in "var/lib/apt/lists", "var/cache/apt", "usr/lib/modules":
        shutil.rmtree(tree / name, ignore_errors=True)
    (tree / "var/lib/apt/lists").mkdir()
    (tree / "var/cache/apt").mkdir()
    shutil.copytree(scratch / "kernel" / "lib" / "modules", tree / "usr" / "lib" / "modules")
    version, = os.listdir(tree / "usr" / "lib" / "modules")
    subprocess.run(["chroot", tree, "depmod", version], check=True)
    (tree / "dewar").mkdir()
    subprocess.run(["chroot", tree, "useradd", "--uid", str(UID), "--create-home", "--shell",
                    "/bin/bash", USER], check=True)
    settle(tree)
    make_disk(tree, path, room=512)


def settle(tree):
    """Boot without questions and delays, with the user's systemd manager from the start."""
    write(tree / "etc/fstab", "")
    write(tree / "etc/hostname", "guest\n")
    write(tree / "etc/hosts", "127.0.0.1 localhost guest\n::1 localhost\n")
    write(tree / "etc/machine-id", hashlib.sha256(b"guest").hexdigest()[:32] + "\n")
    write(tree / "var/lib/systemd/linger" / USER, "")
    write(tree / "etc/systemd/journald.conf.d/guest.conf", "[Journal]\nStorage=volatile\n")
    units = tree / "etc/systemd/system"
    for name in MASKED:
        place = units / name
        place.unlink(missing_ok=True)
        place.symlink_to("/dev/null")
    write(units / "dewar-guest.service", UNIT)
    wants = units / "multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "dewar-guest.service").symlink_to("../dewar-guest.service")
    default = units / "default.target"
    default.unlink(missing_ok=True)
    default.symlink_to("/lib/systemd/system/multi-user.target")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make_disk(tree, path, room=16):
    """Make an ext4 image of a folder with `room` MiB of free space, without mounting anything."""
    used = int(subprocess.run(["du", "-sk", "--apparent-size", tree], check=True,
                              stdout=subprocess.PIPE).stdout.split()[0])
    files = sum(1 for _ in pathlib.Path(tree).rglob("*"))
    size = used + files * 4 + used // 8 + room * 1024
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-E",
                    "root_owner=0:0,lazy_itable_init=1", "-d", tree, path, "%dk" % size],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    try:
        print(image())
    except CannotMake as reason:
        sys.exit("image: %s" % reason)
