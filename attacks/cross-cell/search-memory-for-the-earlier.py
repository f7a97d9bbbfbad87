# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find what the cell before it was given, somewhere in its own memory
# Promise:  neighbours
# Cells:    after
# Oracle:   secret
# Stops:    forgotten=absent
# Because:  two cells of one zygote start as copies of the same memory. The zygote never sees what
#           a run is given. That the search finds what is there, it shows with a piece of shared
#           memory that the first one leaves, where nothing keeps it from it
import mmap
import os
import re

SHARED = "/dev/shm/dw-" + os.environ["DW_NONCE"]


def leave():
    text = b"DW_SECRET=" + os.environ["DW_SECRET"].encode() + b"\n"
    try:
        with open(SHARED, "wb") as file:
            file.write(text.ljust(mmap.PAGESIZE, b"\n"))
    except OSError:
        pass
    return [bytes(text) for _ in range(100)]


def take():
    try:
        with open(SHARED, "rb") as file:
            return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except OSError:
        return None


def areas():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split()
            if "r" in words[1] and "[v" not in line:
                yield (int(n, 16) for n in words[0].split("-"))


def search():
    found = set()
    with open("/proc/self/mem", "rb", 0) as memory:
        for start, end in areas():
            try:
                memory.seek(start)
                found.update(re.findall(rb"DW_SECRET.?([0-9a-f]{32})", memory.read(end - start)))
            except (OSError, OverflowError):
                pass
    return found - {os.environ["DW_SECRET"].encode()}


if os.environ["DW_ROLE"] == "first":
    kept = leave()
else:
    kept = take()
    others = search()
    for secret in others:
        print(secret.decode())
    if not others:
        print("stopped: forgotten at /proc/self/mem")
