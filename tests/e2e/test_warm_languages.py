# SPDX-License-Identifier: Apache-2.0
"""A program cannot tell a warm cell from a cold one.

The same programs run cold, in a standby cell and in a cell forked from a zygote. Their
output and their end must be the same. Process ids, inodes and random names, which differ
between any two runs, are removed first.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.cold

HERE = pathlib.Path(__file__).parent

# Runs in a child of the program and lists the program's descriptors once it only waits.
OPEN_FILES = "sleep 0.5; cd /proc/$PPID/fd; for f in *; do echo \"$f $(readlink $f)\"; done"
KILL = "kill -%s $PPID; sleep 5"

# The programs of each language; those that a language does not support are omitted.
#
# unicode      prints häé→😀
# stdin        prints what it reads, in upper case
# error        fails, two calls deep
# broken       does not parse
# status       ends with 3
# deep_status  ends with 3 inside a function, and would print on
# zero         ends well, by a call, in the middle
# term, segv, abort  ends itself by this signal
# children     prints, has a child print, and prints again
# left         leaves a child running that would print later
# file         prints what is in data.txt and folder/more.txt
# left_open    writes to out.txt and ends without closing it
# at_exit      prints at its end, after all else
# big          prints 300000 letters
# place        prints its folder, the files in /tmp, and its umask
# env          prints its environment
# fds          prints its open descriptors
# pids         prints whether it is not init, and whether init is its parent
# random       prints numbers from the usual generators
# name         prints its own name as it sees it
# endless      runs until it is killed
PROGRAMS = {
    "ruby": {
        "unicode": "puts 'häé→😀'",
        "stdin": "print $stdin.read.upcase",
        "error": "def a = raise('oops')\ndef b = a\nb",
        "wrong_name": "def known; end\nknwon",
        "broken": "puts 1\ndef x(",
        "status": "exit 3",
        "deep_status": "def f\n  exit 3\nend\nf\nputs 'not seen'",
        "zero": "puts 1; exit; puts 2",
        "term": "Process.kill(:TERM, $$); sleep 5",
        "segv": "Process.kill(:KILL, $$); sleep 5",
        "abort": "puts 1; abort 'gone'",
        "children": "puts 1; system('echo 2'); pid = fork { puts 3 }; Process.wait pid\n"
                    "puts $?.exitstatus; puts `echo 4`",
        "left": "puts 1; spawn('sleep 20; echo late')",
        "file": "print File.read('data.txt'), File.read('folder/more.txt')",
        "left_open": "$f = File.open('out.txt', 'w'); $f.write('left')",
        "at_exit": "at_exit { puts 'end' }\nputs 'begin'",
        "big": "puts 'x' * 300000",
        "place": "puts Dir.pwd, Dir.children('/tmp').sort, File.umask",
        "env": "ENV.sort.each { |k, v| puts \"#{k}=#{v}\" }",
        "fds": "Dir.children('/proc/self/fd').sort.each do |n|\n"
               "  puts n, File.readlink(\"/proc/self/fd/#{n}\") rescue 0\nend",
        "pids": "puts $$ > 1, Process.ppid == 1",
        "random": "require 'securerandom'\nputs rand, Random.rand, SecureRandom.hex",
        "name": "puts $0, __FILE__, __LINE__, DATA.read, ARGV.inspect\n__END__\nmore",
        "modules": "require 'set'\nrequire 'json'\nrequire 'prime'\nputs 7.prime?, [1].to_json",
        "threads": "puts Thread.new { sleep 0.05; 7 }.value\nputs Thread.list.size\n"
                   "trap(:USR1) { puts 'heard' }\nProcess.kill(:USR1, $$)\nsleep 0.1",
        "shebang": "#!/usr/bin/ruby -w\nx = 1\nputs $VERBOSE",
        "comment": "=begin\nnothing\n=end\nputs __LINE__",
        "encoding": "# encoding: ascii-8bit\nputs __ENCODING__",
        "endless": "loop {}",
    },
    "php": {
        "unicode": "<?php echo \"häé→😀\\n\";",
        "stdin": "<?php echo strtoupper(stream_get_contents(STDIN));",
        "error": "<?php\nfunction a() { throw new Exception('oops'); }\nfunction b() { a(); }\nb();",
        "warning": "<?php\necho $nothing;\necho 1 / 0;",
        "broken": "<?php echo 1;\nfunction (",
        "status": "<?php exit(3);",
        "deep_status": "<?php function f() { exit(3); }\nf(); echo 'not seen';",
        "zero": "<?php echo 1; exit; echo 2;",
        "term": "<?php shell_exec('%s');" % (KILL % "TERM"),
        "segv": "<?php shell_exec('%s');" % (KILL % "SEGV"),
        "abort": "<?php shell_exec('%s');" % (KILL % "ABRT"),
        "children": "<?php echo 1; system('echo 2'); echo shell_exec('echo 3'), 4;",
        "left": "<?php echo 1; shell_exec('(sleep 20; echo late) >/dev/null 2>&1 &');",
        "file": "<?php readfile('data.txt'); readfile('folder/more.txt');",
        "left_open": "<?php $f = fopen('out.txt', 'w'); fwrite($f, 'left');",
        "at_exit": "<?php register_shutdown_function(function () { echo 'end'; }); echo 'begin';",
        "big": "<?php echo str_repeat('x', 300000);",
        "place": "<?php echo getcwd(), umask(); print_r(scandir('/tmp'));",
        "env": "<?php $e = getenv(); ksort($e); print_r($e); print_r($_ENV);",
        "fds": "<?php system('%s');" % OPEN_FILES.replace("'", "\\'"),
        "pids": "<?php var_dump(getmypid() > 1);",
        "random": "<?php echo mt_rand(), ' ', rand(), ' ', random_int(0, PHP_INT_MAX), ' ',\n"
                  "lcg_value(), ' ', array_rand(range(0, 999999)), ' ', uniqid();",
        "name": "<?php print_r($argv); echo __FILE__, __LINE__, $_SERVER['SCRIPT_NAME'],\n"
                "PHP_BINARY, ini_get('memory_limit'); print_r(get_included_files());",
        "no_tag": "echo 1, \"\\n\";\necho __LINE__;",
        "html": "<b><?= 1 ?></b>\n",
        "shebang": "#!/usr/bin/php\n<?php echo __LINE__;",
        "modules": "<?php print_r(get_loaded_extensions()); echo json_encode([1]), mb_strlen('ä');",
        "endless": "<?php while (1);",
    },
    "perl": {
        "unicode": "print \"häé→😀\\n\";",
        "stdin": "print uc while <STDIN>;",
        "error": "sub a1 { die 'oops' }\nsub b1 { a1() }\nb1();",
        "warning": "use strict; use warnings;\nmy $x; print \"$x\\n\";",
        "broken": "print 1;\nsub x { (",
        "status": "exit 3;",
        "deep_status": "sub f { exit 3 }\nf(); print 'not seen';",
        "zero": "print 1; exit; print 2;",
        "term": "kill 'TERM', $$; sleep 5;",
        "segv": "kill 'SEGV', $$; sleep 5;",
        "abort": "require POSIX; POSIX::abort();",
        "children": "print 1; system('echo 2'); my $p = fork; if (!$p) { print 3; exit 4 }\n"
                    "waitpid $p, 0; print $? >> 8, `echo 5`;",
        "left": "print 1; system('(sleep 20; echo late) &');",
        "file": "for my $n ('data.txt', 'folder/more.txt') { open my $f, '<', $n or die; print <$f> }",
        "left_open": "open $f, '>', 'out.txt'; print $f 'left';",
        "at_exit": "END { print 'end' }\nprint 'begin';",
        "big": "print 'x' x 300000;",
        "place": "use Cwd; opendir my $d, '/tmp'; print cwd(), umask, sort readdir $d;",
        "env": "print \"$_=$ENV{$_}\\n\" for sort keys %ENV;",
        "fds": "system(q(" + OPEN_FILES + "));",
        "pids": "print $$ > 1, getppid() == 1;",
        "random": "print rand, ' ', int rand 1e9;",
        "name": "print \"$0 $^X \", __FILE__, __LINE__, \"@ARGV @INC\", <DATA>;\n__END__\nmore",
        "modules": "use List::Util 'sum'; use POSIX 'floor'; use Time::HiRes;\nprint sum(1, floor 2.5);",
        "shebang": "#!/usr/bin/perl -w\nmy $x; print \"$^W$x\";",
        "endless": "1 while 1;",
    },
    "lua": {
        "unicode": "print('häé→😀')",
        "stdin": "io.write((io.read('a'):upper()))",
        "error": "local function a() error('oops') end\nlocal function b() a() end\nb()",
        "broken": "print(1)\nlocal x = = 1",
        "status": "os.exit(3)",
        "deep_status": "local function f() os.exit(3) end\nf() print('not seen')",
        "zero": "print(1) os.exit() print(2)",
        "term": "os.execute('%s')" % (KILL % "TERM"),
        "segv": "os.execute('%s')" % (KILL % "SEGV"),
        "abort": "os.execute('%s')" % (KILL % "ABRT"),
        "children": "print(1) os.execute('echo 2') print(io.popen('echo 3'):read('a'), 4)",
        "left": "print(1) os.execute('(sleep 20; echo late) &')",
        "file": "for _, n in ipairs{'data.txt', 'folder/more.txt'} do io.write(io.open(n):read('a')) end",
        "left_open": "f = io.open('out.txt', 'w') f:write('left')",
        "at_exit": "setmetatable({}, {__gc = function() print('end') end})\nprint('begin')",
        "big": "print(('x'):rep(300000))",
        "place": "os.execute('pwd; ls -a /tmp; umask')",
        "env": "os.execute('env | sort')",
        "fds": "os.execute([[" + OPEN_FILES + "]])",
        "pids": "os.execute('test $PPID -gt 1 && echo true')",
        "random": "print(math.random(), math.random(1 << 40))",
        "name": "print(arg[0], debug.getinfo(1).source, #arg, ...)",
        "endless": "while true do end",
    },
    "r": {
        "unicode": "cat('häé→😀\\n')",
        "stdin": "writeLines(toupper(readLines(file('stdin'))))",
        "error": "a <- function() stop('oops')\nb <- function() a()\nb()",
        "warning": "x <- as.integer('x')\nprint(x)",
        "broken": "cat(1)\nx <- function( {",
        "broken_at_once": "x y",
        "status": "quit(status = 3)",
        "deep_status": "f <- function() quit(status = 3)\nf()\ncat('not seen')",
        "zero": "cat(1); quit(); cat(2)",
        "term": "tools::pskill(Sys.getpid(), 15); Sys.sleep(5)",
        "abort": "tools::pskill(Sys.getpid(), 6); Sys.sleep(5)",
        "children": "cat(1); system('echo 2'); cat(system('echo 3', intern = TRUE), 4)",
        "left": "cat(1); system('(sleep 20; echo late)', wait = FALSE)",
        "file": "for (n in c('data.txt', 'folder/more.txt')) writeLines(readLines(n))",
        "left_open": "f <- file('out.txt', 'w'); cat('left', file = f)",
        "at_exit": "invisible(reg.finalizer(globalenv(), function(e) cat('end'), onexit = TRUE))\n"
                   "cat('begin')",
        "big": "cat(strrep('x', 300000))",
        "place": "cat(getwd(), list.files('/tmp', all.files = TRUE), format(Sys.umask()), tempdir(),\n"
                 "dir.exists(tempdir()))",
        "env": "print(Sys.getenv())",
        "fds": "system(r\"(" + OPEN_FILES + ")\")",
        "pids": "cat(Sys.getpid() > 1)",
        "random": "cat(runif(2), rnorm(1), sample(1e9, 1), tempfile())",
        "name": "cat(commandArgs(), ls(), search(), interactive())",
        "modules": "library(stats); print(summary(lm(dist ~ speed, cars))); library(nosuch)",
        "endless": "repeat {}",
    },
    "javascript": {
        "unicode": "console.log('häé→😀')",
        "stdin": "process.stdout.write(require('fs').readFileSync(0, 'utf8').toUpperCase())",
        "stdin_later": "process.stdin.on('data', d => console.log(String(d).length))",
        "error": "function a() { throw new Error('oops'); }\nfunction b() { a(); }\nb();",
        "rejected": "Promise.reject(new Error('oops'))",
        "broken": "console.log(1);\nlet = = 1",
        "status": "process.exitCode = 3",
        "deep_status": "(function f() { process.exit(3) })(); console.log('not seen')",
        "zero": "console.log(1); process.exit(); console.log(2)",
        "term": "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 5000)",
        "segv": "process.kill(process.pid, 'SIGSEGV'); setTimeout(() => {}, 5000)",
        "abort": "process.kill(process.pid, 'SIGABRT'); setTimeout(() => {}, 5000)",
        "children": "const c = require('child_process'); console.log(1, String(c.execSync('echo 2')));\n"
                    "c.spawnSync('echo', ['3'], { stdio: 'inherit' });\n"
                    "c.exec('echo 4', (e, out) => console.log(out));",
        "child_node": "if (process.argv[2]) process.send(process.execArgv); else\n"
                      "require('child_process').fork(__filename, ['x']).on('message', console.log)",
        "left": "console.log(1);\nrequire('child_process').spawn('sh', ['-c', 'sleep 20; echo late'],\n"
                "{ stdio: 'inherit', detached: true }).unref()",
        "file": "const f = require('fs');\n"
                "for (const n of ['data.txt', 'folder/more.txt']) process.stdout.write(f.readFileSync(n))",
        "left_open": "require('fs').createWriteStream('out.txt').write('left')",
        "at_exit": "process.on('exit', (c) => console.log('end', c)); console.log('begin')",
        "at_exit_status": "process.on('exit', () => { process.exitCode = 4 })",
        "at_exit_error": "process.on('exit', () => nosuch())",
        "before_exit": "process.once('beforeExit', () => setTimeout(() => console.log('more'), 5))",
        "big": "console.log('x'.repeat(300000))",
        "place": "console.log(process.cwd(), require('fs').readdirSync('/tmp'), process.umask())",
        "env": "console.log(process.env, process.argv, process.execArgv, process.title)",
        "fds": "console.log('first'); console.log(require('fs').readdirSync('/proc/self/fd').length)",
        "pids": "console.log(process.pid > 1, process.ppid === 1)",
        "random": "console.log(Math.random(), require('crypto').randomUUID())",
        "name": "console.log(__filename, require.main === module, module.children, module.parent,\n"
                "Object.keys(require.cache), process.listeners('exit'), process.emit.name)",
        "module": "import('fs').then(m => console.log(typeof m.readFileSync))",
        "timers": "setTimeout(() => console.log(2), 5); process.nextTick(() => console.log(1));\n"
                  "new Worker_(); function Worker_() {}",
        "worker": "const w = require('worker_threads');\n"
                  "if (w.isMainThread) new w.Worker(__filename).on('message', console.log);\n"
                  "else w.parentPort.postMessage('hello')",
        "endless": "for (;;);",
    },
}

SHELL = {
    "unicode": "echo 'häé→😀'",
    "stdin": "tr a-z A-Z",
    "error": "a() { nosuch; }\na\necho $?",
    "broken": "echo 1\nif then",
    "status": "exit 3",
    "deep_status": "f() { exit 3; }\nf\necho not seen",
    "zero": "echo 1; exit; echo 2",
    "term": "kill -TERM $$; sleep 5",
    "segv": "kill -SEGV $$; sleep 5",
    "abort": "kill -ABRT $$; sleep 5",
    "children": "echo 1; (echo 2); echo $(echo 3) | cat; sleep 0.05 & wait; echo $?",
    "left": "echo 1; (sleep 20; echo late) &",
    "file": "cat data.txt folder/more.txt",
    "left_open": "exec 5>out.txt; printf left >&5",
    "at_exit": "trap 'echo end' EXIT; echo begin",
    "big": "head -c 300000 /dev/zero | tr '\\0' x",
    "place": "pwd; ls -a /tmp; umask",
    "env": "env | sort; set | grep -vE '^(RANDOM|SECONDS|EPOCH|PPID|BASHPID|SRANDOM|TTYIDLE|sysparams|[$_?]|.[$])'",
    "fds": "for f in /proc/$$/fd/*; do echo \"${f##*/} $(readlink $f)\"; done",
    "pids": "test $$ -gt 1 && echo $PPID",
    "name": "echo $0 $# \"$@\" $-",
    "set_e": "set -eu\ntrap 'echo trapped' EXIT\nfalse\necho not seen",
    "shebang": "#!/bin/false\necho 1",
    "endless": "while :; do :; done",
}
PROGRAMS["sh"] = SHELL
PROGRAMS["bash"] = {**SHELL, "random": "echo $RANDOM$RANDOM $SRANDOM",
                    "arrays": "a=(1 2); echo ${a[1]} ${BASH_SOURCE[0]} $BASH_SUBSHELL; nosuch",
                    "error": "a() { nosuch; }\na\necho $? $LINENO ${FUNCNAME-none}"}
PROGRAMS["zsh"] = {**SHELL, "random": "echo $RANDOM$RANDOM",
                   "arrays": "a=(1 2); echo $a[2] ${(%):-%x}; zmodload zsh/datetime; nosuch"}

NEEDS = {"r": "Rscript", "javascript": "node"}
FILES = {"data.txt": "data\n", "folder/more.txt": "more\n"}

# Node cannot fork: it is warm only in a standby cell.
WAYS = [(language, way) for language in PROGRAMS for way in ("standby", "fork")
        if (language, way) != ("javascript", "fork")]
# The default tier runs one language as standby and one as fork, the full tier all others.
OFTEN = ("javascript", "bash")
CASES = [pytest.param(language, way, name,
                      marks=[] if language in OFTEN else pytest.mark.slow)
         for language, way in WAYS for name in PROGRAMS[language] if name != "random"]

# Programs that are never warm, because they depend on the start of the interpreter.
COLD = {("ruby", "shebang")}


@pytest.fixture(scope="module")
def start(run_json, tmp_path_factory):
    """start(language, name, *options): the result of that program."""
    folder = tmp_path_factory.mktemp("files")
    options = []
    for name, text in FILES.items():
        path = folder / name.replace("/", "-")
        path.write_text(text, encoding="utf-8")
        options += ["--file", "%s=%s" % (name, path)]

    def run_program(language, name, *more, **kwargs):
        timeout = ["--timeout", "400ms"] if name == "endless" else []
        return run_json(*options, "--collect", "out.txt", "--stdin", "text\nmore\n", *timeout,
                        *more, language, "-c", PROGRAMS[language][name], **kwargs)

    return run_program


@pytest.fixture(scope="module")
def cold(start):
    """cold(language, name): the outcome in a cold cell, computed once."""
    known = {}

    def run_once(language, name):
        if (language, name) not in known:
            known[language, name] = start(language, name)
        return known[language, name]

    return run_once


@pytest.fixture
def need(must):
    def need_language(language):
        program = NEEDS.get(language, language)
        must(shutil.which(program, path="/usr/local/bin:/usr/bin:/bin"),
             "%s is not installed" % program)

    return need_language


def plain(text):
    """The text without the parts that differ between any two runs."""
    text = re.sub(r"\[\d+\]", "[N]", text)  # inodes of pipes
    text = re.sub(r"node:events:\d+:\d+", "node:events:N", text)  # depends on the listeners
    return re.sub(r"Rtmp\w+", "RtmpN", text)


def outcome(result):
    keys = ("status", "reason", "exit_code", "signal", "files")
    return {**{key: result[key] for key in keys},
            "stdout": plain(result["stdout"]), "stderr": plain(result["stderr"])}


@pytest.mark.parametrize("language, way, name", CASES)
def test_a_warm_program_behaves_like_a_cold_one(start, cold, need, language, way, name):
    need(language)
    warm = start(language, name, "--warm", way)
    assert warm["metadata"]["warm"] == ((language, name) not in COLD)
    assert outcome(warm) == outcome(cold(language, name))


@pytest.fixture
def draw(dewar):
    """draw(language): the output of its program in each of four cells of one pool.

    A library with a sanitizer needs its runtime preloaded, and Python leaks by design.
    """
    env = {**os.environ, "DEWAR_LAUNCH": dewar + "-launch"}
    if asan := os.environ.get("DEWAR_ASAN"):
        env |= {"LD_PRELOAD": asan, "ASAN_OPTIONS": "detect_leaks=0"}

    def run_in_one_pool(language):
        library = pathlib.Path(os.environ.get("DEWAR_EXAMPLE") or dewar).with_name("libdewar.so")
        request = {"language": language, "code": PROGRAMS[language]["random"]}
        done = subprocess.run([sys.executable, HERE / "pool_runs.py", library, "4"],
                              input=json.dumps(request).encode(), capture_output=True,
                              timeout=120, check=False, env=env)
        assert done.returncode == 0, done.stderr
        results = json.loads(done.stdout)
        assert all(result["exit_code"] == 0 for result in results), results[0]
        assert any(result["metadata"]["warm"] for result in results)
        return [result["stdout"].split() for result in results if result["metadata"]["warm"]]

    return run_in_one_pool


@pytest.mark.parametrize("language", [name for name in PROGRAMS if "random" in PROGRAMS[name]])
def test_two_forks_draw_different_random_numbers(draw, need, language):
    need(language)
    for numbers in zip(*draw(language), strict=True):
        assert len(set(numbers)) == len(numbers), numbers


def test_a_language_that_cannot_fork_runs_cold_at_once(run_json, need):
    need("javascript")
    done = run_json("--warm", "fork", "javascript", "-c", "console.log(1)", timeout=30)
    assert (done["stdout"], done["metadata"]["warm"]) == ("1\n", False)


WORDS = {
    "javascript": "console.log(process.env.GREETING, process.env.HOME, process.argv.slice(2))",
    "lua": "print(os.getenv('GREETING'), os.getenv('HOME'), ...)",
    "bash": "echo \"$GREETING\" $HOME $# \"$@\"; env | grep GREETING",
    "sh": "echo \"$GREETING\" $HOME $# \"$@\"; env | grep GREETING",
    "zsh": "echo \"$GREETING\" $HOME $# \"$@\"; env | grep GREETING",
}
VARIABLES = {
    **WORDS,
    "ruby": "puts ENV['GREETING'], ENV['HOME']; ENV['MORE'] = '1'; system('env | sort')",
    "php": "<?php echo getenv('GREETING'), getenv('HOME'); putenv('MORE=1'); system('env | sort');",
}


@pytest.mark.parametrize("language", VARIABLES)
def test_a_warm_program_gets_variables_and_arguments(run_json, need, language):
    need(language)
    words = ["--", "one", "two words", ""] if language in WORDS else []
    command = ["--env", "GREETING=good day=", "--env", "HOME=/", language, "-c",
               VARIABLES[language], *words]
    cold, warm = run_json(*command), run_json("--warm", "standby", *command)
    assert warm["metadata"]["warm"]
    assert outcome(warm) == outcome(cold)
    assert "good day=" in warm["stdout"]


# Options that only a starting interpreter applies; a running one cannot be given them.
@pytest.mark.parametrize("language, options, words", [
    ("ruby", ["--env", "RUBYOPT=-w"], []),
    ("ruby", [], ["word"]),
    ("perl", ["--env", "A=1"], []),
    ("r", ["--env", "A=1"], []),
    ("javascript", ["--env", "NODE_OPTIONS=--no-warnings"], []),
    ("bash", ["--env", "LD_BIND_NOW=1"], []),
])
def test_options_that_only_a_start_can_apply_run_cold(run_json, need, language, options, words):
    need(language)
    done = run_json("--warm", "standby", *options, language, "-c",
                    PROGRAMS[language]["zero"], *(["--", *words] if words else []))
    assert not done["metadata"]["warm"]
    assert done["stdout"].strip() == "1" and done["exit_code"] == 0


@pytest.mark.parametrize("language, comment", [
    ("ruby", "#"), ("php", "//"), ("perl", "#"), ("lua", "--"), ("r", "#"), ("bash", "#"),
    ("sh", "#"), ("zsh", "#"), ("javascript", "//")])
def test_a_warm_program_runs_long_code(run_json, need, language, comment):
    need(language)
    code = PROGRAMS[language]["unicode"] + "\n" + (comment + "x" * 70 + "\n") * 1000
    done = run_json("--warm", "standby", language, "-c", code)
    # Node cannot receive code that is larger than a packet.
    assert done["metadata"]["warm"] == (language != "javascript")
    assert done["stdout"] == "häé→😀\n" and done["exit_code"] == 0
