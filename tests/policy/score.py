#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Precision and recall of `dewar check` on the corpus beside this file, by language.

Next to it the same for what known tools do: a search for substrings. A hit is a
finding of the right family ("shell", "import") in the right line; the search is not
asked for more. A snippet counts as clean if nothing is found in it.

usage: tests/policy/score.py [--keep FILE] [--speed]
"""

import argparse
import datetime
import glob
import json
import os
import platform
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEWAR = os.environ.get("DEWAR", os.path.join(ROOT, "build", "dewar"))
CORPUS = os.path.join(ROOT, "tests", "policy", "corpus")
LANGUAGES = ["python", "javascript", "typescript", "bash", "ruby", "php"]

# What substring matching looks for, put together with goodwill: all that the snippets
# call by its usual name.
NAIVE_JS = [
    ("require(\"child_process\")", "import"), ("require(\"fs", "import"),
    ("require(\"net\")", "import"), ("require(\"vm\")", "import"), ("from \"fs", "import"),
    ("from \"child_process", "import"), ("from \"node:", "import"), ("from \"os\"", "import"),
    ("from \"https\"", "import"), ("import(\"", "import"), ("require(", "dynamic"),
    ("eval(", "builtin"), ("Function(", "builtin"), ("exec(", "shell"), ("execSync(", "shell"),
    ("spawn", "shell"), ("unlink", "delete"), ("rmSync(", "delete"), ("rm(", "delete"),
    ("fetch(", "network"), ("WebSocket", "network"), (".connect(", "network"),
    ("https.get", "network"), ("process.binding", "native"), ("while (true)", "loop"),
    ("for (;;)", "loop"), ("vm.run", "dynamic"),
]
NAIVE = {
    "python": [
        ("import os", "import"), ("from os", "import"), ("import sys", "import"),
        ("import subprocess", "import"), ("from subprocess", "import"),
        ("import shutil", "import"), ("import socket", "import"), ("import urllib", "import"),
        ("import requests", "import"), ("import ctypes", "import"), ("importlib", "import"),
        ("import pickle", "import"), ("import builtins", "import"), ("eval(", "builtin"),
        ("exec(", "builtin"), ("open(", "builtin"), ("input(", "builtin"),
        ("__import__", "builtin"), ("__import__", "dynamic"), ("import_module", "dynamic"),
        ("os.system", "shell"), ("os.popen", "shell"), ("subprocess.", "shell"),
        ("os.remove", "delete"), ("os.unlink", "delete"), ("rmtree", "delete"),
        ("unlink(", "delete"), ("rmdir(", "delete"), ("socket.socket", "network"),
        ("requests.get", "network"), ("urlopen", "network"), ("ctypes.", "native"),
        ("pickle.load", "dynamic"), ("getattr(", "reflection"),
        ("__subclasses__", "reflection"), ("__globals__", "reflection"),
        ("__builtins__", "reflection"), ("while True", "loop"), ("while 1", "loop"),
    ],
    "javascript": NAIVE_JS,
    "typescript": NAIVE_JS,
    "bash": [
        ("rm ", "delete"), ("curl", "network"), ("wget", "network"), ("nc ", "network"),
        ("/dev/tcp", "network"), ("sudo", "privilege"), ("eval", "builtin"),
        ("source ", "dynamic"), ("| sh", "dynamic"), ("| bash", "dynamic"), ("dd ", "delete"),
        ("-delete", "delete"), ("/dev/sd", "delete"), ("LD_PRELOAD", "dynamic"),
        ("PATH=", "dynamic"), ("while true", "loop"), ("while :", "loop"), (":|:", "loop"),
        ("import os", "import"),
    ],
    "ruby": [
        ("require \"socket\"", "import"), ("require \"open3\"", "import"),
        ("require \"net/", "import"), ("require \"fileutils\"", "import"),
        ("system", "shell"), ("exec", "shell"), ("spawn", "shell"), ("`", "shell"),
        ("popen", "shell"), ("%x", "shell"), ("eval", "builtin"), ("open(", "builtin"),
        (".send(", "reflection"), ("const_get", "reflection"), ("File.delete", "delete"),
        ("rm_rf", "delete"), ("Net::HTTP", "network"), ("TCPSocket", "network"),
        ("Marshal.load", "dynamic"), ("loop", "loop"), ("while true", "loop"),
    ],
    "php": [
        ("system(", "shell"), ("exec(", "shell"), ("passthru(", "shell"), ("popen(", "shell"),
        ("proc_open", "shell"), ("`", "shell"), ("eval(", "builtin"), ("assert(", "builtin"),
        ("create_function", "builtin"), ("file_get_contents", "builtin"),
        ("unserialize(", "dynamic"), ("include $", "dynamic"), ("unlink(", "delete"),
        ("rmdir(", "delete"), ("fsockopen", "network"), ("curl_", "network"),
        ("http://", "network"), ("$$", "reflection"), ("extract(", "reflection"),
        ("Reflection", "reflection"), ("FFI::", "native"), ("while (true)", "loop"),
        ("for (;;)", "loop"),
    ],
}


def load(language):
    snippets = []
    kinds = {"=": "want", "-": "missed", "+": "wrong"}
    with open(os.path.join(CORPUS, language + ".txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("%% "):
                snippets.append({"name": line[3:].strip(), "code": "", "want": set()})
            elif line[0] == "%" and line[1] in kinds and line[2] == " ":
                if line[1] == "=":
                    for label in line[3:].split(","):
                        number, rule = label.strip().split(" ", 1)
                        snippets[-1]["want"].add((int(number), rule.split(":")[0]))
            else:
                snippets[-1]["code"] += line
    return snippets


def ours(language, code):
    done = subprocess.run([DEWAR, "check", "--json", language, "-"], input=code,
                          capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1):
        sys.exit(f"score: {done.stderr.strip()}")
    return {(f["line"], f["rule"].split(":")[0]) for f in json.loads(done.stdout)}


def naive(language, code):
    found = set()
    for number, line in enumerate(code.split("\n"), 1):
        for text, family in NAIVE[language]:
            if text in line:
                found.add((number, family))
    return found


class Score:
    def __init__(self):
        self.right = self.wrong = self.missed = 0
        self.hidden = self.caught = self.innocent = self.left_alone = 0

    def add(self, want, found):
        self.right += len(want & found)
        self.wrong += len(found - want)
        self.missed += len(want - found)
        if want:
            self.hidden += 1
            self.caught += bool(want & found)
        else:
            self.innocent += 1
            self.left_alone += not found

    def columns(self):
        precision = self.right / max(1, self.right + self.wrong)
        recall = self.right / max(1, self.right + self.missed)
        return (f"{precision:.3f} | {recall:.3f} | {self.caught}/{self.hidden} | "
                f"{self.left_alone}/{self.innocent}")


def score():
    lines = ["| language | snippets | by | precision | recall | evasions caught | look-alikes left alone |",
             "|---|---|---|---|---|---|---|"]
    total = {"dewar": Score(), "substrings": Score()}
    count = 0
    for language in LANGUAGES:
        snippets = load(language)
        count += len(snippets)
        scores = {"dewar": Score(), "substrings": Score()}
        for snippet in snippets:
            for name, found in (("dewar", ours(language, snippet["code"])),
                                ("substrings", naive(language, snippet["code"]))):
                scores[name].add(snippet["want"], found)
                total[name].add(snippet["want"], found)
        for name, s in scores.items():
            lines.append(f"| {language} | {len(snippets)} | {name} | {s.columns()} |")
    for name, s in total.items():
        lines.append(f"| all | {count} | {name} | {s.columns()} |")
    return lines


# Where ordinary code may be found on a host, by language.
ORDINARY = {
    "python": ("/usr/lib/python3.*/*.py", "Python's library"),
    "javascript": ("/usr/lib/node_modules/npm/**/*.js", "npm itself"),
    "typescript": ("/usr/lib/node_modules/**/*.ts", "declarations beside npm"),
    "bash": ("/usr/share/bash-completion/**/*", "bash-completion"),
    "ruby": ("/usr/lib/ruby/[0-9]*/**/*.rb", "Ruby's library"),
}


def ordinary(language, size):
    """Files as they come, one behind the other, until there is enough; or nothing."""
    text = ""
    pattern, _ = ORDINARY.get(language, ("", ""))
    for path in sorted(glob.glob(pattern, recursive=True)):
        if len(text) >= size:
            break
        if os.path.isfile(path) and os.path.getsize(path) < 50000:
            with open(path, encoding="utf-8", errors="replace") as file:
                text += file.read() + "\n"
    return text[: text.rfind("\n", 0, size) + 1] if len(text) >= size else ""


def dense(language, size):
    """The look-alikes of the corpus: more to parse in a line than people write."""
    pieces = [s["code"] for s in load(language) if not s["want"]]
    if language == "php":
        pieces = [p.replace("<?php", "") for p in pieces if "<p>" not in p and "?>" not in p]
    text = "<?php\n" if language == "php" else ""
    while len(text) < size:
        for piece in pieces:
            if "namespace" not in piece and "import" not in piece:
                text += piece
    return text[: text.rfind("\n", 0, size) + 1]


def cpu_ms():
    used = os.times()
    return (used.children_user + used.children_system) * 1000


def measure(language, code):
    """Milliseconds of processor time, the start of the program taken off; the least
    of several tries, since other programs on the host only ever add to it."""
    best = None
    for _ in range(5):
        spent = []
        for text in (code.encode(), b""):
            start = cpu_ms()
            for _ in range(20):
                subprocess.run([DEWAR, "check", "--json", language, "-"], input=text,
                               capture_output=True, timeout=60, check=False)
            spent.append((cpu_ms() - start) / 20)
        once = spent[0] - spent[1]
        best = once if best is None else min(best, once)
    return best


def speed():
    lines = ["| language | 100 KB of ordinary code, ms of processor | of | 100 KB of the corpus |",
             "|---|---|---|---|"]
    for language in LANGUAGES:
        code = ordinary(language, 100000)
        usual = f"{measure(language, code):.1f}" if code else "-"
        source = ORDINARY[language][1] if code else "-"
        lines.append(f"| {language} | {usual} | {source} | "
                     f"{measure(language, dense(language, 100000)):.1f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", help="write what is printed to this file, too")
    parser.add_argument("--speed", action="store_true", help="measure the speed as well")
    args = parser.parse_args()
    lines = score()
    if args.speed:
        lines += ["", *speed()]
    print("\n".join(lines))
    if args.keep:
        with open(args.keep, "w", encoding="utf-8") as file:
            file.write("# What the analysis finds\n\nMade by `tests/policy/score.py --speed --keep "
                       f"bench/analysis.md` on {datetime.date.today()}, {os.cpu_count()} processors, "
                       f"Linux {platform.release()}.\n\n" + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
