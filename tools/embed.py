#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write files into a C header, as arrays of bytes: embed.py OUT NAME,NAME... FILE..."""

import sys


def array(name, path):
    with open(path, "rb") as file:
        data = file.read()
    lines = [f"static const unsigned char {name}[] = {{"]
    for at in range(0, len(data), 16):
        lines.append("\t" + " ".join(f"0x{byte:02x}," for byte in data[at:at + 16]))
    lines.append("};")
    return "\n".join(lines)


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("/* Made by tools/embed.py. */\n")
        for name, path in zip(sys.argv[2].split(","), sys.argv[3:], strict=True):
            out.write(array(name, path) + "\n")


if __name__ == "__main__":
    main()
