# SPDX-License-Identifier: Apache-2.0
"""Images without a registry: Debian's packages, under the names that Dewar asks for.

The files of an image are cached as a tar file below $DEWAR_CACHE (~/.cache/dewar), under a name
that changes with the packages; the first run creates it, later ones import it.
"""

import fcntl
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tarfile

SUITE = "bookworm"
PACKAGES = ["esbuild", "lua5.4", "nodejs", "perl", "php-cli", "php-mbstring", "python3",
            "r-base-core", "ruby", "zsh"]
LEFT_OUT = ["/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*"]

# One image with every language is made and imported faster than one for each; that the right
# name is asked for is seen in a test of its own.
DEFAULT_NAMES = ["alpine:3.20", "node:22-alpine", "node:22-slim", "perl:5.40-slim",
                 "php:8.3-cli-alpine", "python:3.11-slim", "r-base:4.4.1", "ruby:3.3-alpine"]

# Next to nothing: a static shell, and not even an /etc/passwd.
BARE = "dewar-test/bare:1"
BUSYBOX = "/bin/busybox"
APPLETS = ["cat", "echo", "env", "id", "ls", "mkdir", "sh", "sleep", "touch"]

# Settings of an image that Dewar must ignore.
BOSSY = "dewar-test/bossy:1"
BOSSY_SAYS = ['ENTRYPOINT ["/bin/echo", "entrypoint"]', 'CMD ["cmd"]', "USER 0:0",
              "WORKDIR /nowhere", "ENV FROM_IMAGE=1", "EXPOSE 80/tcp", "LABEL org.example=bossy"]
HOLED = "dewar-test/holed:1"
HOLED_SAYS = ["VOLUME /data"]


def cache():
    folder = os.environ.get("DEWAR_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "dewar")
    path = pathlib.Path(folder) / "images"
    path.mkdir(parents=True, exist_ok=True)
    return path


def languages_tar():
    """A tar file with every language in it, made now if it has to be."""
    options = ["--mode=root", "--variant=minbase", "--include=" + ",".join(PACKAGES),
               "--dpkgopt=force-unsafe-io", "--aptopt=Acquire::Languages none",
               *("--dpkgopt=path-exclude=" + path for path in LEFT_OUT), SUITE]
    key = hashlib.sha256("\0".join([*options, os.uname().machine]).encode()).hexdigest()[:12]

    def make(path):
        print("making the images: a minute, and once only", file=sys.stderr)
        subprocess.run(["mmdebstrap", "--quiet", "--format=tar", *options, path], check=True,
                       stdin=subprocess.DEVNULL)

    return kept("languages-%s.tar" % key, make)


def bare_tar():
    """A tar file with busybox and little else."""
    with open(BUSYBOX, "rb") as file:
        busybox = file.read()
    key = hashlib.sha256(busybox + " ".join(APPLETS).encode()).hexdigest()[:12]

    def make(path):
        with tarfile.open(path, "w") as tar:
            for folder, mode in (("bin", 0o755), ("data", 0o777), ("etc", 0o755), ("tmp", 0o1777)):
                add(tar, folder, mode, kind=tarfile.DIRTYPE)
            add(tar, "bin/busybox", 0o755, busybox)
            for name in APPLETS:
                add(tar, "bin/" + name, 0o777, kind=tarfile.SYMTYPE, link="busybox")

    return kept("bare-%s.tar" % key, make)


def add(tar, name, mode, data=b"", kind=tarfile.REGTYPE, link=""):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.size, entry.linkname = kind, mode, len(data), link
    tar.addfile(entry, io.BytesIO(data))


def kept(name, make):
    """The path of that file in the cache; make(path) writes it, if need be, and alone."""
    path = cache() / name
    with open(str(path) + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            part = str(path) + ".part.tar"
            make(part)
            os.rename(part, path)
    return path


def provide(api):
    """Give an engine all images that the tests need and it has not."""
    there = set(api.images())
    if not there >= set(DEFAULT_NAMES):
        api.import_image(languages_tar(), DEFAULT_NAMES)
    for name, says in (BARE, ()), (BOSSY, BOSSY_SAYS), (HOLED, HOLED_SAYS):
        if name not in there:
            api.import_image(bare_tar(), [name], says)
