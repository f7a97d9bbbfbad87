#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The attacks of `dewar verify`, from their files to tables in C.

Each attack is one file, attacks/FAMILY/NAME.EXT, whose first comment says what
it tries and how one can tell; attacks/README.md explains the words. Promises and
what is not promised come from docs/THREAT_MODEL.md, so that the program quotes
what the page says.

  attacks.py table OUT          the table for dewar-verify
  attacks.py dispatch OUT       the table for dewar-attacks
  attacks.py lists [--check]    write the lists of attacks: those in the threat
                                model, and the one for meson; or are they old?
"""

import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDER = "attacks"
MODEL = "docs/THREAT_MODEL.md"

FAMILIES = {
    "file-system": "file system",
    "process": "process and privilege",
    "kernel": "kernel surface",
    "network": "network",
    "resources": "resources",
    "cross-cell": "cross-cell",
    "identity": "identity",
    "output": "output",
}
LANGUAGES = {".c": "", ".py": "python", ".sh": "bash", ".js": "javascript", ".pl": "perl",
             ".rb": "ruby"}
WALLS = ("namespace", "mount", "seccomp", "landlock", "capability", "cgroup", "rlimit",
         "absent", "supervisor")
LIMITS = ("memory", "cpu", "pids", "files", "tmp")
ORACLES = ("secret", "files", "witness", "network", "remains", "forged", "held", "count",
           "host")
COUNTS = ("processes", "threads", "memory_mb", "tmp_mb", "tmp_files", "open_files", "cpu_percent",
          "locked_mb", "queued_mb", "memfd_mb", "output_kb")
HOST = ("boot-id", "command-line", "account", "caller", "disk", "file-system")
KEYS = {"Tries to", "Oracle", "Stops", "Control", "Cells", "Options", "Promise", "Not promised",
        "Because"}
STOP = re.compile(r"([a-z]+:)?[A-Za-z0-9]+=[a-z:|]+$")


class Bad(Exception):
    pass


def header(path, text):
    """The key-value lines of the first comment after the SPDX line."""
    if path.endswith((".c", ".js")):
        comment = re.search(r"/\*\n(.*?)\*/", text, re.DOTALL)
        body = comment.group(1) if comment else ""
        body = "\n".join(re.sub(r"^ \* ?", "", line) for line in body.splitlines())
    else:
        lines = []
        for line in text.splitlines():
            if not line.startswith("#"):
                break
            lines.append(line[2:] if line[1:2] == " " else line[1:])
        body = "\n".join(lines)
    fields = []
    for line in body.splitlines():
        match = re.match(r"([A-Z][A-Za-z ]*):\s+(.*)$", line)
        if match and match.group(1) in KEYS:
            fields.append([match.group(1), match.group(2).strip()])
        elif fields and line[:1] in (" ", "\t") and line.strip():
            fields[-1][1] += " " + line.strip()
        elif match and not match.group(1).startswith("SPDX"):
            raise Bad("unknown key %r" % match.group(1))
        elif not line.strip():
            if fields:
                break
    return fields


def check_wall(name):
    kind, _, limit = name.partition(":")
    if kind == "limit" and limit in LIMITS:
        return
    if name not in WALLS:
        raise Bad("unknown wall %r" % name)


def read_attack(path, model):
    family, name = path.split(os.sep)[-2:]
    stem, ext = os.path.splitext(name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    attack = {"path": path, "name": stem, "family": FAMILIES[family], "ext": ext, "text": text,
              "ident": stem.replace("-", "_"), "language": LANGUAGES[ext], "control": "none",
              "cells": "one", "options": "", "promise": None, "oracles": [], "stops": [],
              "tries": None, "unpromised": {}, "because": ""}
    if not re.match(r"[a-z0-9]+(-[a-z0-9]+)*$", stem):
        raise Bad("a name is words of small letters and digits with hyphens between them")
    for key, value in header(path, text):
        if key == "Tries to":
            attack["tries"] = value.rstrip(".")
        elif key == "Oracle":
            kind = value.split()[0]
            if kind not in ORACLES:
                raise Bad("unknown oracle %r" % kind)
            if kind == "count" and not re.match(r"count (%s) > \d+$" % "|".join(COUNTS), value):
                raise Bad("a count is `count NAME > N`, NAME one of %s" % ", ".join(COUNTS))
            if kind == "held" and len(value.split(None, 2)) != 3:
                raise Bad("held needs a file of /proc/PID and an expression")
            if kind == "host" and value[5:] not in HOST:
                raise Bad("host NAME: one of %s" % ", ".join(HOST))
            attack["oracles"].append(value)
        elif key == "Stops":
            for stop in value.split():
                if not STOP.match(stop):
                    raise Bad("a stop is WORD=WALL, and not %r" % stop)
                for wall in stop.split("=")[1].split("|"):
                    check_wall(wall)
                attack["stops"].append(stop)
        elif key == "Control":
            if value not in ("none", "bare", "root"):
                raise Bad("a control must be none, bare or root")
            attack["control"] = value
        elif key == "Cells":
            if value not in ("one", "pair", "after"):
                raise Bad("cells must be one, pair or after")
            attack["cells"] = value
        elif key == "Options":
            attack["options"] = value
        elif key == "Promise":
            if value not in model["promises"]:
                raise Bad("%s makes no promise %r" % (MODEL, value))
            attack["promise"] = value
        elif key == "Because":
            attack["because"] = value
        elif key == "Not promised":
            for word in value.split():
                level, _, sentence = word.partition("=")
                if sentence not in model["unpromised"]:
                    raise Bad("%s has no sentence %r" % (MODEL, sentence))
                attack["unpromised"][level] = sentence
    attack["unpromised"]["none"] = "none"
    if any("landlock" in stop for stop in attack["stops"]):
        attack["unpromised"]["process-without-landlock"] = "process-without-landlock"
    for need in ("tries", "promise", "oracles"):
        if not attack[need]:
            raise Bad("it does not say: %s" % need)
    if not attack["stops"]:
        raise Bad("it does not say what stops it")
    if ext == ".c" and not re.search(r"^ATTACK\(%s\)$" % attack["ident"], text, re.MULTILINE):
        raise Bad("it does not define ATTACK(%s)" % attack["ident"])
    return attack


def read_model():
    with open(os.path.join(ROOT, MODEL), encoding="utf-8") as file:
        text = file.read()
    promises, unpromised = {}, {}
    for key, sentence in re.findall(r"^### `([a-z-]+)`\n\n(.*?)\n\n", text,
                                    re.MULTILINE | re.DOTALL):
        promises[key] = " ".join(sentence.split())
    for key, sentence in re.findall(r"^- `([a-z-]+)`: (.*?)(?=\n- `|\n\n|\n*\Z)", text,
                                    re.MULTILINE | re.DOTALL):
        unpromised[key] = " ".join(sentence.split())
    return {"promises": promises, "unpromised": unpromised, "text": text}


def paths():
    for family in FAMILIES:
        folder = os.path.join(ROOT, FOLDER, family)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if os.path.splitext(name)[1] in LANGUAGES:
                yield os.path.join(FOLDER, family, name)


def read_all():
    model = read_model()
    attacks, bad, seen = [], 0, {}
    for path in paths():
        try:
            attack = read_attack(os.path.join(ROOT, path), model)
            if attack["name"] in seen:
                raise Bad("its name is taken by %s" % seen[attack["name"]])
            seen[attack["name"]] = path
            attack["path"] = path
            attacks.append(attack)
        except Bad as error:
            print("%s: %s" % (path, error), file=sys.stderr)
            bad += 1
    if bad:
        sys.exit(1)
    return attacks, model


def c_string(text):
    out = []
    for line in text.splitlines(True) or [""]:
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        escaped = escaped.replace("\t", "\\t").replace("?", "\\?")
        out.append('"%s"' % escaped)
    return "\n\t\t".join(out)


def c_list(items):
    return "(const char *const[]){%s}" % ", ".join([c_string(i) for i in items] + ["NULL"])


def write_table(out):
    attacks, model = read_all()
    for attack in attacks:
        out.write("\t{\n")
        for field in ("name", "family", "path", "language", "tries", "control", "cells",
                      "options", "because"):
            out.write("\t\t.%s = %s,\n" % (field, c_string(attack[field])))
        out.write("\t\t.promise = %s,\n" % c_string(model["promises"][attack["promise"]]))
        out.write("\t\t.oracles = %s,\n" % c_list(attack["oracles"]))
        out.write("\t\t.stops = %s,\n" % c_list(attack["stops"]))
        pairs = []
        for level, sentence in sorted(attack["unpromised"].items()):
            pairs += [level, model["unpromised"][sentence]]
        out.write("\t\t.unpromised = %s,\n" % c_list(pairs))
        out.write("\t\t.source = %s,\n" % c_string(attack["text"]))
        out.write("\t},\n")


def write_dispatch(out):
    attacks, _ = read_all()
    idents = [a["ident"] for a in attacks if a["ext"] == ".c"]
    for ident in idents:
        out.write("int attack_%s(const char *role);\n" % ident)
    out.write("static const struct attack attacks[] = {\n")
    for attack in attacks:
        if attack["ext"] == ".c":
            out.write('\t{"%s", attack_%s},\n' % (attack["name"], attack["ident"]))
    out.write("};\n")


def meson_list(attacks):
    """What meson is to build with; it notices no new file by itself."""
    text = "# SPDX-License-Identifier: Apache-2.0\n# Made by tools/attacks.py lists.\n"
    for name, suffixes in (("attack_sources", (".c",)), ("attack_scripts", tuple(LANGUAGES))):
        text += "%s = files(\n" % name
        for attack in attacks:
            path = os.path.relpath(attack["path"], FOLDER)
            if attack["ext"] in suffixes and (name == "attack_sources" or attack["ext"] != ".c"):
                text += "  '%s',\n" % path
        text += ")\n"
    return text


def threat_model(attacks, model):
    """Under each promise stands the list of its attacks."""
    text = model["text"]
    for key in model["promises"]:
        mine = [a for a in attacks if a["promise"] == key]
        if not mine:
            sys.exit("%s: no attack tries the promise %s" % (MODEL, key))
        lines = "<!-- attacks: %s -->\n" % key
        lines += "%d attacks:\n" % len(mine)
        lines += ",\n".join("[%s](../%s)" % (a["name"], a["path"]) for a in mine)
        lines += ".\n<!-- end -->\n"
        pattern = r"<!-- attacks: %s -->\n.*?<!-- end -->\n" % key
        if not re.search(pattern, text, re.DOTALL):
            sys.exit("%s: no list of attacks under %s" % (MODEL, key))
        text = re.sub(pattern, lambda _, lines=lines: lines, text, flags=re.DOTALL)
    for key in model["unpromised"]:
        used = any(key in a["unpromised"].values() for a in attacks)
        if not used and key != "none":
            sys.exit("%s: no attack needs the sentence %s" % (MODEL, key))
    return text


def lists(check):
    attacks, model = read_all()
    for path, text in ((MODEL, threat_model(attacks, model)),
                       (FOLDER + "/meson.build", meson_list(attacks))):
        path = os.path.join(ROOT, path)
        old = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                old = file.read()
        if text == old:
            continue
        if check:
            sys.exit("%s is old; run tools/attacks.py lists" % path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command in ("table", "dispatch"):
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            (write_table if command == "table" else write_dispatch)(out)
    elif command == "lists":
        lists("--check" in sys.argv)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
