# SPDX-License-Identifier: Apache-2.0
"""Every language works in a cell as its users expect.

Each language has its own programs, listed below, for the same tests. Tests of a single
language are at the end.
"""

import json
import os
import shutil
import subprocess
import tempfile
import types

import pytest

SEARCH = "/usr/local/bin:/usr/bin:/bin"


def lang(name, needs, package, hello, stdin, args, status, broken, unicode, file,
         everywhere=True):
    return types.SimpleNamespace(**locals())


# hello     prints hello
# stdin     prints what it reads, in upper case
# args      prints its arguments, one a line
# status    ends with 3
# broken    fails: does not parse, or uses an undefined name
# unicode   prints häé→😀
# file      prints what is in data.txt
LANGUAGES = [
    lang(
        "python", ["python3"], "python3",
        hello="print('hello')",
        stdin="import sys; print(sys.stdin.read().upper(), end='')",
        args="import sys\nfor a in sys.argv[1:]: print(a)",
        status="raise SystemExit(3)",
        broken="print(",
        unicode="print('häé→😀')",
        file="print(open('data.txt').read(), end='')",
    ),
    lang(
        "javascript", ["node"], "nodejs",
        hello="console.log('hello')",
        stdin="process.stdout.write(require('fs').readFileSync(0, 'utf8').toUpperCase())",
        args="for (const a of process.argv.slice(2)) console.log(a)",
        status="process.exitCode = 3",
        broken="let = = 1",
        unicode="console.log('häé→😀')",
        file="process.stdout.write(require('fs').readFileSync('data.txt'))",
    ),
    lang(
        "typescript", ["esbuild", "node"], "esbuild",
        hello="const s: string = 'hello'; console.log(s)",
        stdin="import * as fs from 'fs';\n"
              "process.stdout.write((fs.readFileSync(0, 'utf8') as string).toUpperCase())",
        args="for (const a of process.argv.slice(2) as string[]) console.log(a)",
        status="process.exit(3 as number)",
        broken="let x: = 1",
        unicode="const s: string = 'häé→😀'; console.log(s)",
        file="import fs from 'node:fs'; process.stdout.write(fs.readFileSync('data.txt'))",
    ),
    lang(
        "ruby", ["ruby"], "ruby",
        hello="puts 'hello'",
        stdin="print $stdin.read.upcase",
        args="puts ARGV",
        status="exit 3",
        broken="def x(",
        unicode="puts 'häé→😀'",
        file="print File.read('data.txt')",
    ),
    lang(
        "php", ["php"], "php-cli",
        hello="<?php echo \"hello\\n\";",
        stdin="<?php echo strtoupper(stream_get_contents(STDIN));",
        args="<?php foreach (array_slice($argv, 1) as $a) echo $a, \"\\n\";",
        status="<?php exit(3);",
        broken="<?php function (",
        unicode="<?php echo \"häé→😀\\n\";",
        file="<?php readfile('data.txt');",
    ),
    lang(
        "perl", ["perl"], "perl",
        hello="print \"hello\\n\";",
        stdin="print uc while <STDIN>;",
        args="print \"$_\\n\" for @ARGV;",
        status="exit 3;",
        broken="sub x { (",
        unicode="print \"häé→😀\\n\";",
        file="open my $f, '<', 'data.txt' or die; print <$f>;",
    ),
    lang(
        "lua", ["lua"], "lua5.4",
        hello="print('hello')",
        stdin="io.write((io.read('a'):upper()))",
        args="for _, a in ipairs(arg) do print(a) end",
        status="os.exit(3)",
        broken="local x = = 1",
        unicode="print('häé→😀')",
        file="io.write(io.open('data.txt'):read('a'))",
    ),
    lang(
        "r", ["Rscript"], "r-base-core",
        hello="cat('hello\\n')",
        stdin="writeLines(toupper(readLines(file('stdin'))))",
        args="writeLines(commandArgs(trailingOnly=TRUE))",
        status="quit(status=3)",
        broken="x <- function( {",
        unicode="cat('häé→😀\\n')",
        file="writeLines(readLines('data.txt'))",
    ),
    lang(
        "bash", ["bash"], "bash",
        hello="echo hello",
        stdin="read -r x; echo \"${x^^}\"",
        args="for a in \"$@\"; do echo \"$a\"; done",
        status="exit 3",
        broken="if then",
        unicode="echo 'häé→😀'",
        file="cat data.txt",
    ),
    lang(
        "sh", ["sh"], "dash",
        hello="echo hello",
        stdin="tr a-z A-Z",
        args="for a; do echo \"$a\"; done",
        status="exit 3",
        broken="if then",
        unicode="echo 'häé→😀'",
        file="cat data.txt",
    ),
    lang(
        "zsh", ["zsh"], "zsh",
        hello="print hello",
        stdin="read x; print ${(U)x}",
        args="for a; do print -r -- $a; done",
        status="exit 3",
        broken="if then )",
        unicode="print 'häé→😀'",
        file="cat data.txt",
    ),
    lang(
        "c", ["cc"], "gcc",
        hello="#include <stdio.h>\nint main(void) { puts(\"hello\"); }",
        stdin="#include <ctype.h>\n#include <stdio.h>\n"
              "int main(void) { int c; while ((c = getchar()) != EOF) putchar(toupper(c)); }",
        args="#include <stdio.h>\n"
             "int main(int n, char **v) { for (int i = 1; i < n; i++) puts(v[i]); }",
        status="int main(void) { return 3; }",
        broken="int main(void) { return nothing; }",
        unicode="#include <stdio.h>\nint main(void) { puts(\"häé→😀\"); }",
        file="#include <stdio.h>\nint main(void) { FILE *f = fopen(\"data.txt\", \"r\");\n"
             "int c; while ((c = getc(f)) != EOF) putchar(c); }",
    ),
    lang(
        "c++", ["c++"], "g++",
        hello="#include <iostream>\nint main() { std::cout << \"hello\\n\"; }",
        stdin="#include <cctype>\n#include <cstdio>\n"
              "int main() { int c; while ((c = getchar()) != EOF) putchar(toupper(c)); }",
        args="#include <cstdio>\n"
             "int main(int n, char **v) { for (int i = 1; i < n; i++) puts(v[i]); }",
        status="int main() { return 3; }",
        broken="int main() { return nothing; }",
        unicode="#include <cstdio>\nint main() { puts(\"häé→😀\"); }",
        file="#include <fstream>\n#include <iostream>\n"
             "int main() { std::cout << std::ifstream(\"data.txt\").rdbuf(); }",
    ),
    lang(
        "go", ["go"], "golang-go", everywhere=False,
        hello="package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hello\") }",
        stdin="package main\nimport (\"bytes\"; \"io\"; \"os\")\n"
              "func main() { b, _ := io.ReadAll(os.Stdin); os.Stdout.Write(bytes.ToUpper(b)) }",
        args="package main\nimport (\"fmt\"; \"os\")\n"
             "func main() { for _, a := range os.Args[1:] { fmt.Println(a) } }",
        status="package main\nimport \"os\"\nfunc main() { os.Exit(3) }",
        broken="package main\nfunc main() { nothing() }",
        unicode="package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"häé→😀\") }",
        file="package main\nimport \"os\"\n"
             "func main() { b, _ := os.ReadFile(\"data.txt\"); os.Stdout.Write(b) }",
    ),
    lang(
        "rust", ["rustc", "cc"], "rustc", everywhere=False,
        hello="fn main() { println!(\"hello\"); }",
        stdin="use std::io::Read;\nfn main() { let mut s = String::new();\n"
              "std::io::stdin().read_to_string(&mut s).unwrap(); "
              "print!(\"{}\", s.to_uppercase()); }",
        args="fn main() { for a in std::env::args().skip(1) { println!(\"{}\", a); } }",
        status="fn main() { std::process::exit(3); }",
        broken="fn main() { nothing(); }",
        unicode="fn main() { println!(\"häé→😀\"); }",
        file="fn main() { print!(\"{}\", std::fs::read_to_string(\"data.txt\").unwrap()); }",
    ),
    lang(
        "java", ["java", "javac"], "default-jdk-headless", everywhere=False,
        hello="class Any { public static void main(String[] a) "
              "{ System.out.println(\"hello\"); } }",
        stdin="class Any { public static void main(String[] a) throws Exception "
              "{ System.out.print(new String(System.in.readAllBytes()).toUpperCase()); } }",
        args="class Any { public static void main(String[] a) "
             "{ for (String s : a) System.out.println(s); } }",
        status="class Any { public static void main(String[] a) { System.exit(3); } }",
        broken="class Any { public static void main(String[] a) { nothing(); } }",
        unicode="class Any { public static void main(String[] a) "
                "{ System.out.println(\"häé→😀\"); } }",
        file="import java.nio.file.*;\nclass Any { public static void main(String[] a) "
             "throws Exception { System.out.print(Files.readString(Path.of(\"data.txt\"))); } }",
    ),
]
BY_NAME = {language.name: language for language in LANGUAGES}


@pytest.fixture(params=LANGUAGES, ids=lambda language: language.name)
def language(request, must):
    here_or_skip(request.param, must)
    return request.param


def here_or_skip(language, must):
    # The host is searched without Dewar, whose answer might be wrong.
    missing = [p for p in language.needs if not shutil.which(p, path=SEARCH)]
    reason = "%s is not installed (Debian's package: %s)" % (
        ", ".join(missing), language.package)
    if missing and not language.everywhere:
        pytest.skip(reason)
    must(not missing, reason)


@pytest.fixture
def snippet(run_json, must):
    """snippet(name, code, *options): the result, if the language is installed."""

    def run_snippet(name, code, *options):
        here_or_skip(BY_NAME[name], must)
        return run_json(name, "-c", code, *options)

    return run_snippet


def assert_success(result, stdout):
    assert (result["status"], result["reason"], result["exit_code"]) == \
        ("success", "exit", 0), result
    assert result["stdout"] == stdout, result


# Tests of every language.


def test_every_language_prints_hello(run_json, language):
    result = run_json(language.name, "-c", language.hello)
    assert_success(result, "hello\n")
    assert result["stderr"] == ""
    assert result["metadata"]["ok"] is True


def test_hello_without_json_is_the_output_alone(run, language):
    done = run("run", language.name, "-c", language.hello)
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr


def test_the_program_reads_stdin(run_json, language):
    assert_success(run_json(language.name, "-c", language.stdin, "--stdin", "some text\n"),
                   "SOME TEXT\n")


def test_arguments_are_passed_as_they_are(run_json, language):
    args = ["one", "two words", "--help", "-v", "$HOME;*", "häé"]
    result = run_json(language.name, "-c", language.args, "--", *args)
    assert_success(result, "".join(a + "\n" for a in args))


def test_exit_status_passes_through(run, run_json, language):
    assert run("run", language.name, "-c", language.status).returncode == 3
    result = run_json(language.name, "-c", language.status)
    assert (result["status"], result["reason"], result["exit_code"]) == ("error", "exit", 3)


def test_broken_code_fails_and_says_why(run_json, language):
    result = run_json(language.name, "-c", language.broken)
    assert (result["status"], result["reason"]) == ("error", "exit"), result
    assert result["exit_code"] not in (0, None)
    assert result["stderr"].strip() != ""
    assert result["hint"]


def test_unicode_is_printed_unchanged(run_json, language):
    assert_success(run_json(language.name, "-c", language.unicode), "häé→😀\n")


def test_the_program_reads_a_file_of_the_request(run_json, language, tmp_path):
    data = tmp_path / "anything"
    data.write_text("first\nsecond\n")
    assert_success(run_json(language.name, "-c", language.file,
                            "--file", "data.txt=%s" % data),
                   "first\nsecond\n")


# C and C++ are not among these: as everywhere, they buffer output to a pipe.
LIVE = {
    "python": "print('before', end=''); import time; time.sleep(60)",
    "javascript": "process.stdout.write('before'); setTimeout(() => {}, 60000)",
    "typescript": "process.stdout.write('before'); await new Promise(r => setTimeout(r, 60000))",
    "ruby": "print 'before'; sleep 60",
    "php": "<?php echo 'before'; sleep(60);",
    "perl": "print 'before'; sleep 60;",
    "lua": "print('before') io.popen('sleep 60'):read('a')",
    "r": "cat('before'); Sys.sleep(60)",
    "bash": "echo -n before; sleep 60",
    "sh": "printf before; sleep 60",
    "zsh": "print -n before; sleep 60",
}


@pytest.mark.parametrize("name", LIVE)
def test_output_from_before_the_deadline_is_kept(snippet, name):
    result = snippet(name, LIVE[name], "--timeout", "4s", "--cpus", "2")
    assert (result["status"], result["reason"]) == ("timeout", "timeout_wall"), result
    assert result["stdout"].strip() == "before"


# Tests of a single language.


COMES_WITH = [
    ("python", "import json; print(json.dumps({'a': [1]}))", '{"a": [1]}\n'),
    ("python", "import sqlite3; print(sqlite3.connect(':memory:')"
               ".execute('select 1+1').fetchone())", "(2,)\n"),
    ("python", "import ctypes; print(ctypes.CDLL(None).abs(-3))", "3\n"),
    ("python", "import os; print(os.getcwd() == os.path.dirname(__file__))", "True\n"),
    ("javascript", "const fs = require('fs'); fs.writeFileSync('x', 'y');"
                   "console.log(fs.readFileSync('x', 'utf8'))", "y\n"),
    ("javascript", "const { Worker, isMainThread, parentPort } = require('worker_threads');\n"
                   "if (isMainThread) new Worker(__filename).on('message', console.log);\n"
                   "else parentPort.postMessage('from a worker');", "from a worker\n"),
    ("typescript", "interface P { x: number }\nenum E { A = 1, B }\n"
                   "class C<T extends P> { constructor(private p: T) {}\n"
                   "get(): number { return this.p.x! } }\n"
                   "console.log(new C({ x: 4 } satisfies P).get(), E[E.B])", "4 B\n"),
    ("typescript", "import fs from 'fs'; import * as path from 'node:path';\n"
                   "console.log(typeof fs.statSync, path.join('a', 'b'))",
     "function a/b\n"),
    ("typescript", "const x: string = await Promise.resolve('later'); console.log(x)",
     "later\n"),
    ("typescript", "const os = require('os'); const name: string = 'fs';\n"
                   "console.log(typeof os.cpus, typeof require(name).statSync)",
     "function function\n"),
    ("typescript", "import { createRequire } from 'module';\n"
                   "const require = createRequire(import.meta.url);\n"
                   "console.log(typeof require('fs').statSync)", "function\n"),
    ("typescript", "import fs from 'fs';\nfunction main(): void { console.log(typeof fs) }\n"
                   "if (require.main === module) main()", "object\n"),
    ("typescript", "function main(): void { console.log('main') }\n"
                   "if (require.main === module) main()", "main\n"),
    ("ruby", "require 'json'; puts JSON.generate({a: [1]})", '{"a":[1]}\n'),
    ("ruby", "puts defined?(Gem::VERSION) ? 1 : 0; puts DATA.read\n__END__\ndata",
     "1\ndata\n"),
    ("ruby", "puts Dir.children('.').sort, __FILE__ == $0", "main.rb\ntrue\n"),
    ("php", "<?php echo json_encode(['a' => [1]]), \"\\n\";", '{"a":[1]}\n'),
    ("php", "echo 'no tag', \"\\n\";", "no tag\n"),
    ("php", "<b><?= 1 + 1 ?></b>\n", "<b>2</b>\n"),
    ("perl", "use List::Util qw(sum max); print sum(1..4), ' ', max(1, 9), \"\\n\";",
     "10 9\n"),
    ("perl", "use strict; use warnings; use Data::Dumper; print __LINE__, \"\\n\";", "1\n"),
    ("r", "cat(round(coef(lm(c(2, 4, 6) ~ c(1, 2, 3)))[[2]]), median(c(3, 1, 2)), '\\n')",
     "2 2 \n"),
    ("bash", "a=(1 2 3); [[ ${#a[@]} == 3 ]] && echo <(:) | grep -c fd", "1\n"),
    ("c", "#include <math.h>\n#include <stdio.h>\n"
          "int main(int n, char **v) { (void)v; printf(\"%.0f\\n\", sqrt(16.0 * n)); }",
     "4\n"),
    ("c", "#include <pthread.h>\n#include <stdio.h>\n"
          "static void *f(void *p) { return p; }\n"
          "int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, \"thread\");\n"
          "pthread_join(t, &r); puts(r); }", "thread\n"),
    ("c++", "#include <ranges>\n#include <iostream>\nint main() {\n"
            "for (int i : std::views::iota(1, 4)) std::cout << i;\nstd::cout << '\\n'; }",
     "123\n"),
    ("java", "import java.util.stream.*;\n"
             "class Any { public static void main(String[] a) { System.out.println("
             "IntStream.range(0, 1000).parallel().sum()); } }", "499500\n"),
    ("rust", "fn main() { let v: Vec<i32> = (1..4).collect(); println!(\"{:?}\", v); }",
     "[1, 2, 3]\n"),
    ("go", "package main\nimport \"fmt\"\nfunc main() { c := make(chan int)\n"
           "go func() { c <- 7 }()\nfmt.Println(<-c) }", "7\n"),
]


@pytest.mark.parametrize("name, code, stdout", COMES_WITH,
                         ids=["%s-%d" % (row[0], i) for i, row in enumerate(COMES_WITH)])
def test_the_standard_library_works(snippet, name, code, stdout):
    assert_success(snippet(name, code), stdout)


def test_javascript_modules_work_as_they_are(snippet):
    version = node_version()
    if version < (20, 19):
        pytest.skip("node %d.%d does not tell a module by its syntax" % version)
    assert_success(snippet("javascript", "import fs from 'fs';\n"
                           "console.log(await Promise.resolve(typeof fs.statSync))"),
                   "function\n")


def node_version():
    node = shutil.which("node", path=SEARCH)
    if not node:
        return (0, 0)
    text = subprocess.run([node, "--version"], capture_output=True, text=True,
                          check=True).stdout
    return tuple(int(part) for part in text.strip().lstrip("v").split(".")[:2])


def test_typescript_imports_a_file_beside_it(snippet, tmp_path):
    helper = tmp_path / "helper.ts"
    helper.write_text("export const answer: number = 42\n")
    assert_success(snippet("typescript", "import { answer } from './helper'\n"
                           "console.log(answer)", "--file", "helper.ts=%s" % helper),
                   "42\n")


def test_typescript_errors_name_lines_of_the_original(snippet):
    result = snippet("typescript", "interface A { x: number }\n\n"
                     "function f(a: A): never {\n  throw new Error('boom')\n}\nf({ x: 1 })\n")
    assert result["exit_code"] == 1
    assert "main.ts:4" in result["stderr"]


def test_typescript_syntax_errors_come_from_esbuild(snippet):
    result = snippet("typescript", "let x: = 1")
    assert result["exit_code"] == 1
    assert "main.ts:1:7" in result["stderr"] and "ERROR" in result["stderr"]


# "prime" and "minitest" are gems; RubyGems is loaded only when it is needed.
@pytest.mark.parametrize("code", [
    "require 'prime'; puts Prime.first(3).sum",
    "gem 'matrix'; require 'matrix'; puts Matrix[[10]].determinant",
    "require 'bundler'; puts Bundler::VERSION ? 10 : 0",
    "begin; require 'no_such_thing'; rescue LoadError; puts 10; end",
])
def test_ruby_gems_load_on_demand(snippet, code):
    assert_success(snippet("ruby", code), "10\n")


def test_ruby_suggests_names_for_misspelled_ones(snippet):
    result = snippet("ruby", "some_name = 1\nputs some_nam")
    assert result["exit_code"] == 1
    assert "Did you mean?  some_name" in result["stderr"]


def test_php_has_mbstring(snippet, must):
    result = snippet("php", "<?php echo extension_loaded('mbstring') ? mb_strlen('häé') : 0;")
    must(result["stdout"] != "0", "php has no mbstring (Debian's package: php-mbstring)")
    assert_success(result, "3")


def test_php_errors_are_on_stderr_only(snippet):
    result = snippet("php", "<?php echo 'out'; nothing();")
    assert result["exit_code"] == 255
    assert result["stdout"] == "out"
    assert "undefined function nothing()" in result["stderr"]


@pytest.mark.parametrize("name, code", [
    ("c", "#include <stdio.h>\nint f() { }\n"
          "int main(void) { char *p = 5; printf(\"%d\\n\", 1L); return p == 0; }"),
    ("c++", "#include <cstdio>\nint f() { }\nint main() { puts(\"1\"); }"),
])
def test_compiler_warnings_are_printed_and_do_not_fail_the_run(snippet, name, code):
    result = snippet(name, code)
    assert_success(result, "1\n")
    assert "warning" in result["stderr"]


def test_a_large_header_fits_in_a_small_cell(snippet):
    """gcc scales its garbage collection with the host's memory, not with the cell's."""
    assert_success(snippet("c++", "#include <bits/stdc++.h>\nint main() {\n"
                           "std::map<std::string, std::vector<int>> m; m[\"a\"] = {1, 2};\n"
                           "std::cout << m[\"a\"].size() << std::endl; }"),
                   "2\n")


def test_java_garbage_fits_in_a_small_cell(snippet):
    assert_success(snippet("java", "class Any { public static void main(String[] a) {\n"
                           "long n = 0; for (int i = 0; i < 4000; i++)\n"
                           "n += new byte[200000].length;\nSystem.out.println(n); } }"),
                   "800000000\n")


def test_a_linux_program_runs_as_it_is(run_json, must, tmp_path):
    cc = shutil.which("cc", path=SEARCH)
    must(cc, "cc is not installed (Debian's package: gcc)")
    program = tmp_path / "program"
    source = tmp_path / "program.c"
    source.write_text("#include <stdio.h>\n"
                      "int main(int n, char **v) { puts(v[n - 1]); return 3; }")
    subprocess.run([cc, "-o", program, source], check=True)
    result = run_json(program, "--", "native")
    assert (result["exit_code"], result["stdout"]) == (3, "native\n"), result


# `dewar languages`.


def test_the_list_contains_every_language(run):
    done = run("languages", "--json")
    assert done.returncode == 0, done.stderr
    listed = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert set(listed) == set(BY_NAME) | {"binary"}
    for language in LANGUAGES:
        entry = listed[language.name]
        here = all(shutil.which(p, path=SEARCH) for p in language.needs)
        assert entry["available"] == here, entry
        assert language.package in entry["package"].split()
        if here:
            assert os.access(entry["path"], os.X_OK)
            assert entry["version"] and entry["version"] != "unknown"
        else:
            assert entry["path"] is None and entry["version"] is None


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_a_missing_interpreter_is_a_result_that_names_its_package(run_json, language):
    # Not pytest's own folder, which other users cannot read.
    with tempfile.TemporaryDirectory(prefix="image-") as image:
        os.chmod(image, 0o755)
        os.makedirs(os.path.join(image, "usr", "bin"))
        result = run_json(language.name, "-c", language.hello, "--image", image)
    assert (result["status"], result["reason"]) == ("error", "unavailable"), result
    assert language.package in result["hint"]
    assert result["metadata"]["ok"] is False


@pytest.mark.parametrize("alias, name", [
    ("py", "python"), ("JS", "javascript"), ("Node", "javascript"), ("ts", "typescript"),
    ("R", "r"), ("shell", "bash"), ("cpp", "c++"),
])
def test_aliases_work_in_any_case(run_json, must, alias, name):
    here_or_skip(BY_NAME[name], must)
    assert_success(run_json(alias, "-c", BY_NAME[name].hello), "hello\n")
