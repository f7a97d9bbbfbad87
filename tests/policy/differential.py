#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What bash runs, and what we say that it runs.

Makes scripts at random out of everything that runs commands, lets bash run them with
nothing but stubs in its PATH, and holds the stubs that were started against the
findings of `dewar check bash --allow-commands`: each must be named there, unless
something is said to be undecided.

usage: tests/policy/differential.py [--scripts N] [--seed N]
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEWAR = os.environ.get("DEWAR", os.path.join(ROOT, "build", "dewar"))
STUBS = [f"stub{n}" for n in range(10)]
HARMLESS = "echo,cat,diff,true,tee"


class Scripts:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def quote(self, text):
        """The text as one word, in one of the ways that there are."""
        single = "'" + text.replace("'", "'\\''") + "'"
        double = '"' + "".join("\\" + c if c in '\\"$`' else c for c in text) + '"'
        ansi = "$'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
        return self.pick(single, double, ansi)

    def name(self):
        stub = self.random.choice(STUBS)
        at = self.random.randrange(1, len(stub))
        head, tail = stub[:at], stub[at:]
        return self.pick(
            stub, stub, stub, "\\" + stub, f"{head}\\{tail}", f"'{head}'{tail}",
            f'{head}"{tail}"', f"{head}''{tail}", f"{head}\\\n{tail}",
            f"$'{head}'{tail}", f"$'\\x{ord(stub[0]):x}'{stub[1:]}",
            f'"{head}"\'{tail}\'', f"$(echo {stub})", f"${{none:-{stub}}}", f"{{{stub},x}}")

    def words(self):
        return " ".join(self.pick("a", "-x", "'b c'", '"$HOME"', "$((1+2))", "x=y", "{a,b}", "*",
                                  "~", "#c", "a#b", "--", "\\;")
                        for _ in range(self.random.randrange(3)))

    def simple(self):
        front = self.pick("", "", "", "A=1 ", "! ", "time ", "command ", "exec -a x ", "env ",
                          "env -u X A=1 ", "nice -n 1 ", "nohup ", "timeout 5 ", "builtin command ",
                          "echo y | xargs ", "echo y | xargs -n 1 ", "command -p -- ",
                          "stdbuf -o0 ", "setsid -w ")
        behind = self.pick("", "", "", " >/dev/null", " 2>&1", " </dev/null", " &", " <<<x", " >&2")
        # These look for programs where there are no stubs.
        if "-p" in front:
            front = "command "
        return f"{front}{self.name()} {self.words()}{behind}"

    def command(self, depth):
        if depth <= 0 or self.random.random() < 0.25:
            return self.simple()
        one, two = self.command(depth - 1), self.command(depth - 1)
        return self.pick(
            lambda: f"{one}\n{two}",
            lambda: f"{self.amp(one)} | {two}",
            lambda: f"{self.amp(one)} && {two}",
            lambda: f"{self.amp(one)} || {two}",
            lambda: f"( {one}\n)",
            lambda: f"{{ {one}\n}}",
            lambda: f"if {one}\nthen {two}\nelse {two}\nfi",
            lambda: f"for i in 1 $({one}\n)\ndo {two}\ndone",
            lambda: f"while {one}\ndo break\ndone",
            lambda: f"until {one}\ndo break\ndone",
            lambda: f"case x in (y) {one}\n;; x) {two}\n;; esac",
            lambda: f'echo "a $({one}\n) b"',
            lambda: f"x=$({one}\n)",
            lambda: f"a=(x $({one}\n) y)",
            lambda: f": ${{none:-$({one}\n)}}",
            lambda: f"[[ -n $({one}\n) ]]",
            lambda: f'[ "$({one}\n)" = x ]',
            lambda: f"echo $(( 1 + $({one} >/dev/null\necho 1) ))",
            lambda: f"cat <({one}\n) >/dev/null",
            lambda: f"echo x | tee >({one}\n) >/dev/null",
            lambda: f"cat <<E\n$({one}\n)\nE",
            lambda: f"f{depth}() {{ {one}\n}}\nf{depth}",
            lambda: f"function g{depth} {{ {one}\n}}; g{depth} x",
            lambda: f"bash -c {self.quote(one)}",
            lambda: f"bash -ec {self.quote(one)} x y",
            lambda: f"eval {self.quote(one)}",
            lambda: f"trap {self.quote(one)} EXIT",
            lambda: f"bash <<'E{depth}'\n{one}\nE{depth}",
            lambda: f"bash <<< {self.quote(one)}",
            lambda: f"echo {self.quote(one)} | bash",
            lambda: f"v={self.random.choice(STUBS)}; $v {self.words()}",
            lambda: f"select i in a; do {one}\nbreak; done <<< 1",
            lambda: f"declare y=$({one}\n)",
            lambda: f"coproc {{ {one}\n}}",
            lambda: f"h{depth}()\n(\n{one}\n)\nh{depth}",
            lambda: f"alias al{depth}={self.quote(one)}\nshopt -s expand_aliases\nal{depth}",
            lambda: f"find . -maxdepth 0 -exec {self.random.choice(STUBS)} {{}} \\;",
            lambda: f"find . -maxdepth 0 -exec bash -c {self.quote(one)} x {{}} +",
            lambda: f"source <(echo {self.quote(one)})",
            lambda: f"printf '%s\\n' {self.quote(one)} | bash -s a b",
            lambda: f'echo "${{HOME:+$({one}\n)}}"',
            lambda: f"b=(1 2); echo ${{b[$({one} >/dev/null\necho 1)]}}",
            lambda: f"for ((i=$({one} >/dev/null\necho 0); i < 1; i++)); do {two}\ndone",
            lambda: f"(( $({one} >/dev/null\necho 1) > 0 )) && {two}",
            lambda: f"[[ a == a && -z $({one}\n) || b ]]",
            lambda: f"case $({one}\n) in a|$({two}\n)) ;; esac",
            lambda: f"cat <<-Q\n\t$({one}\n)\n\tQ\n{two}",
            lambda: f"cat <<E <<'F'\n$({one}\n)\nE\n$(no)\nF\n{two}",
            lambda: f"{{ {one}\n}} 2>&1 |& {two}",
            lambda: f"echo {{1..3}} $({one}\n) &>/dev/null",
            lambda: f"let \"z=$({one} >/dev/null\necho 1)\"",
            lambda: f"export Z=$({one}\n) Y=1; {two}",
            lambda: f"# {self.random.choice(STUBS)}\n{one} # $(no)\n{two}",
            lambda: f"if true; then :; elif {one}\nthen :; fi\n{two}",
            lambda: f"echo 'a $(no) `no`' \"\\$(no)\" ; {one}",
            lambda: f"cat <<'E' | {two}\n$(no)\nE",
            lambda: f"while read -r l; do {one}\ndone <<< x",
            lambda: f"read -r w < <({one}\n)",
            lambda: f"x=${{x:=$({one}\n)}}",
            lambda: f"echo ${{HOME/$({one}\n)/$({two}\n)}}",
            lambda: f"local_() {{ local q=$({one}\n); }}\nlocal_",
            lambda: f"exec 5> >({one}\n)",
            lambda: f"test -n \"`{self.random.choice(STUBS)} a`\" -o x",
        )()

    @staticmethod
    def amp(text):
        """What ends in & cannot be followed by an operator."""
        return f"{{ {text}\n}}"


def started(script, folder, number):
    # Of its own: what another left in the background writes to the other's.
    log = os.path.join(folder, f"log{number}")
    try:
        subprocess.run(["bash", "--norc", "--noprofile", "-c", script], cwd=folder, timeout=20,
                       env={"PATH": folder + "/bin:/usr/bin:/bin", "LOG": log, "HOME": folder},
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        pass
    if not os.path.exists(log):
        return set()
    with open(log, encoding="utf-8") as file:
        return set(file.read().split())


def found(script):
    done = subprocess.run([DEWAR, "check", "bash", "--json", "--allow-commands", HARMLESS, "-"],
                          input=script, capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1):
        sys.exit(f"differential: {done.stderr}")
    return {finding["rule"] for finding in json.loads(done.stdout)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scripts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    scripts = Scripts(args.seed)
    wrong = ran = decided = 0
    with tempfile.TemporaryDirectory(prefix="dewar-differential-") as folder:
        os.mkdir(folder + "/bin")
        for stub in STUBS:
            with open(f"{folder}/bin/{stub}", "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\necho {stub} >>"$LOG"\n')
            os.chmod(f"{folder}/bin/{stub}", 0o755)
        for number in range(args.scripts):
            script = scripts.command(scripts.random.randrange(5)) + "\n"
            stubs, rules = started(script, folder, number), found(script)
            ran += bool(stubs)
            undecided = any(rule.startswith("undecided:") for rule in rules)
            decided += not undecided
            missed = {stub for stub in stubs if "command:" + stub not in rules}
            if missed and not undecided:
                wrong += 1
                print(f"--- {' '.join(sorted(missed))} ran, and was not seen:\n{script}")
    print(f"{args.scripts} scripts, {ran} of which ran stubs; {decided} without a doubt; "
          f"{wrong} in which a command was not seen")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
