/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The languages.
 *
 * What an entry aims at, in this order: code that runs in a plain install of the
 * language runs here; what it printed is seen even if it is killed; it fits in a
 * small cell (256 MB, 64 threads, half a core) on a large host; it starts fast.
 *
 * The cell does not see its own limits, only the host's memory and cores, so
 * whatever sizes itself by these is told to be small: a runtime that starts a
 * thread a core runs into the limit on processes on a host with 64 of them.
 */
#include "languages/runtime.h"

#include "base/cleanup.h"

/*
 * RubyGems are six sevenths of Ruby's start (44 ms with, 7 ms without), yet half
 * of what comes with Ruby ("prime", "matrix", "minitest") is found by them only.
 * So we start without and let them in when first missed: a require that fails, a
 * call of gem, a use of Gem. The spelling help that comes with them is let in if
 * the program dies of a wrong name. The text goes in as a file, since Ruby takes
 * what comes before the program from nowhere else; it takes itself away.
 */
#define RUBY_PRELUDE                                                                       \
	"File.unlink(__FILE__)\n"                                                          \
	"$stdout.sync = true\n"                                                            \
	"autoload :Gem, 'rubygems'\n"                                                      \
	"module Kernel\n"                                                                  \
	"  alias dewar_require require\n"                                                  \
	"  def require(name)\n"                                                            \
	"    dewar_require('rubygems') if /\\Abundler/ === name\n"                         \
	"    dewar_require(name)\n"                                                        \
	"  rescue LoadError => e\n"                                                        \
	"    raise if e.path != name\n"                                                    \
	"    raise if Kernel.private_method_defined?(:gem_original_require)\n"             \
	"    dewar_require('rubygems')\n"                                                  \
	"    raise unless Kernel.private_method_defined?(:gem_original_require)\n"         \
	"    require(name)\n"                                                              \
	"  end\n"                                                                          \
	"  def gem(*args)\n"                                                               \
	"    dewar_require('rubygems')\n"                                                  \
	"    gem(*args)\n"                                                                 \
	"  end\n"                                                                          \
	"  private :dewar_require, :require, :gem\n"                                       \
	"end\n"                                                                            \
	"at_exit do\n"                                                                     \
	"  %w[error_highlight did_you_mean].each { |n| require(n) } if NameError === $!\n" \
	"rescue LoadError\n"                                                               \
	"end\n"

#define RUBY_SCRIPT                                    \
	"printf %s \"$3\" >\"$2/.dewar.rb\" || exit\n" \
	"file=$1 dir=$2; shift 3\n"                    \
	"exec ruby --disable-gems -r \"$dir/.dewar.rb\" \"$file\" \"$@\""

/*
 * Bundled, so that "./helper" finds helper.ts; as a module, so that await works
 * at the top; with what only CommonJS has put beside it as globals, which code
 * that declares its own (const require = createRequire(...)) may shadow. Types
 * are dropped, not checked. The map makes errors name lines of the original.
 */
#define TYPESCRIPT_BANNER                                                  \
	"import{createRequire as dewarRequire}from\"node:module\";"        \
	"import{fileURLToPath as dewarPath}from\"node:url\";"              \
	"Object.assign(globalThis,{require:dewarRequire(import.meta.url)," \
	"module:{exports:{}},__filename:dewarPath(import.meta.url),"       \
	"__dirname:dewarPath(new URL(\".\",import.meta.url)).slice(0,-1)});"

#define TYPESCRIPT_SCRIPT                                                      \
	"esbuild \"$1\" --bundle --platform=node --format=esm --target=node18" \
	" --sourcemap=inline --sources-content=false --log-level=warning"      \
	" --define:require.main=module --banner:js=\"$3\""                     \
	" --outfile=\"$2/main.mjs\" || exit\n"                                 \
	"dir=$2; shift 3\n"                                                    \
	"exec node --enable-source-maps \"$dir/main.mjs\" \"$@\""

/*
 * gcc lets garbage pile up by the size of the host's memory: with the usual
 * setting <bits/stdc++.h> and a std::regex take 300 MB on a host with 24 GB, with
 * this one 230 MB and a fifth more time. A small program never gets there.
 */
#define GCC_SMALL "--param ggc-min-expand=20 --param ggc-min-heapsize=65536"

#define C_SCRIPT                                                            \
	"cc -O1 " GCC_SMALL " -o \"$2/main\" \"$1\" -lm -pthread || exit\n" \
	"dir=$2; shift 2\n"                                                 \
	"exec \"$dir/main\" \"$@\""

#define CXX_SCRIPT                                                                    \
	"c++ -std=gnu++20 -O1 " GCC_SMALL " -o \"$2/main\" \"$1\" -pthread || exit\n" \
	"dir=$2; shift 2\n"                                                           \
	"exec \"$dir/main\" \"$@\""

/* Without the tables for debuggers, to spare the linker. */
#define GO_SCRIPT                                                        \
	"go build -p 2 -ldflags='-s -w' -o \"$2/main\" \"$1\" || exit\n" \
	"dir=$2; shift 2\n"                                              \
	"exec \"$dir/main\" \"$@\""

/* Overflow is an error, as with a plain `cargo run`, but loops are not as slow. */
#define RUST_SCRIPT                                                                 \
	"rustc --edition 2021 -C opt-level=1 -C debug-assertions=on -C debuginfo=0" \
	" -o \"$2/main\" \"$1\" || exit\n"                                          \
	"dir=$2; shift 2\n"                                                         \
	"exec \"$dir/main\" \"$@\""

static const struct dw_runtime table[] = {
	{
		.name = "python",
		.aliases = {"python3", "py"},
		.extensions = {".py", ".pyw"},
		.shebangs = {"python", "pypy"},
		.file = "main.py",
		/* -I -S would save 3 ms of 9, and Debian's packages: numpy and all. */
		.command = {"python3", "%f"},
		/* -I: nothing of the request's own runs before. It takes away the variables. */
		.hooked = {"python3", "-I", "-u", "-B", "%h", "%f"},
		.alone = true,
		.needs = {"python3"},
		.version = {"--version"},
		.package = "python3",
		/* OMP_NUM_THREADS: numpy starts a thread a core of the host. */
		.env = {"PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
                        "OMP_NUM_THREADS=1"},
		.library_env = "PYTHONPATH",
	},
	{
		.name = "javascript",
		.aliases = {"js", "node", "nodejs"},
		.extensions = {".js", ".mjs", ".cjs"},
		.shebangs = {"node", "nodejs"},
		.file = "main.js",
		/*
		 * No ceiling for the heap: V8 grows by what is alive, and so stays
		 * within the cell; who keeps too much ends as "oom", not as an abort.
		 */
		.command = {"node", "%f"},
		.hooked = {"node", "-r", "%h", "%f"},
		.alone = true,
		.needs = {"node"},
		.version = {"--version"},
		.package = "nodejs",
		.library_env = "NODE_PATH",
	},
	{
		.name = "typescript",
		.aliases = {"ts"},
		.extensions = {".ts", ".mts", ".cts"},
		.shebangs = {"ts-node", "tsx"},
		.file = "main.ts",
		.command = {"sh", "-c", TYPESCRIPT_SCRIPT, "sh", "%f", "%d",
                            TYPESCRIPT_BANNER},
		.needs = {"esbuild", "node"},
		.version = {"--version"},
		.package = "esbuild nodejs",
		/* esbuild is a Go program: a thread a core. */
		.env = {"GOMAXPROCS=2"},
		.library_env = "NODE_PATH",
	},
	{
		.name = "ruby",
		.aliases = {"rb"},
		.extensions = {".rb"},
		.shebangs = {"ruby"},
		.file = "main.rb",
		.command = {"sh", "-c", RUBY_SCRIPT, "sh", "%f", "%d", RUBY_PRELUDE},
		.prelude = RUBY_PRELUDE,
		.alone = true,
		.needs = {"ruby"},
		.version = {"--version"},
		.package = "ruby",
		.library_env = "RUBYLIB",
	},
	{
		.name = "php",
		.extensions = {".php"},
		.shebangs = {"php"},
		.file = "main.php",
		/* It would be printed, not run, and who sends a snippet means to run it. */
		.opening = {"<?", "<?php "},
		/*
		 * The ini files stay, though -n would save 4 ms of 12: the extensions are
		 * in them. Debian's keep errors from stdout, other installs do not; here
		 * they are on stderr everywhere.
		 */
		.command = {"php", "-d", "display_errors=stderr", "-d", "log_errors=0",
                            "-d", "html_errors=0", "%f"},
		.alone = true,
		.needs = {"php"},
		.version = {"--version"},
		.package = "php-cli php-mbstring",
	},
	{
		.name = "perl",
		.aliases = {"pl"},
		.extensions = {".pl", ".pm"},
		.shebangs = {"perl"},
		.file = "main.pl",
		/* -M pastes "use 5.006;$|++;" in front of line 1: output is not held back. */
		.command = {"perl", "-M5.006;$|++", "%f"},
		.alone = true,
		.needs = {"perl"},
		.version = {"-v"},
		.package = "perl",
		.library_env = "PERL5LIB",
	},
	{
		.name = "lua",
		.extensions = {".lua"},
		.shebangs = {"lua", "luajit"},
		.file = "main.lua",
		.command = {"lua", "-e", "io.stdout:setvbuf('line')", "%f"},
		.alone = true,
		.needs = {"lua"},
		.version = {"-v"},
		.package = "lua5.4",
	},
	{
		.name = "r",
		.aliases = {"rscript"},
		.extensions = {".r", ".R"},
		.shebangs = {"Rscript"},
		.file = "main.R",
		/* No site file: it only names a mirror that nobody here can reach. */
		.command = {"Rscript", "--vanilla", "%f"},
		.needs = {"Rscript"},
		.version = {"--version"},
		.package = "r-base-core",
		.env = {"OMP_NUM_THREADS=1"},
	},
	{
		.name = "bash",
		.aliases = {"shell"},
		.extensions = {".bash"},
		.shebangs = {"bash"},
		.file = "main.bash",
		.command = {"bash", "%f"},
		.alone = true,
		.needs = {"bash"},
		.version = {"--version"},
		.package = "bash",
	},
	{
		.name = "sh",
		.aliases = {"dash"},
		.extensions = {".sh"},
		.shebangs = {"sh", "dash"},
		.file = "main.sh",
		.command = {"sh", "%f"},
		.alone = true,
		.needs = {"sh"},
		.package = "dash",
	},
	{
		.name = "zsh",
		.extensions = {".zsh"},
		.shebangs = {"zsh"},
		.file = "main.zsh",
		.command = {"zsh", "-f", "%f"},
		.alone = true,
		.needs = {"zsh"},
		.version = {"--version"},
		.package = "zsh",
	},
	{
		.name = "c",
		.extensions = {".c"},
		.file = "main.c",
		.command = {"sh", "-c", C_SCRIPT, "sh", "%f", "%d"},
		.needs = {"cc", "as", "ld"},
		.version = {"--version"},
		.package = "gcc libc6-dev",
		.library_env = "CPATH",
	},
	{
		.name = "c++",
		.aliases = {"cpp", "cxx"},
		.extensions = {".cpp", ".cc", ".cxx", ".c++", ".C"},
		.file = "main.cpp",
		/* C++20 costs 450 ms for a hello instead of 330, and old code compiles. */
		.command = {"sh", "-c", CXX_SCRIPT, "sh", "%f", "%d"},
		.needs = {"c++", "as", "ld"},
		.version = {"--version"},
		.package = "g++",
		.library_env = "CPATH",
	},
	{
		.name = "go",
		.aliases = {"golang"},
		.extensions = {".go"},
		.file = "main.go",
		.command = {"sh", "-c", GO_SCRIPT, "sh", "%f", "%d"},
		.needs = {"go"},
		.version = {"version"},
		.package = "golang-go",
		/* One file is no module, and nothing can be fetched; no C compiler needed. */
		.env = {"GO111MODULE=off", "GOPROXY=off", "GOTOOLCHAIN=local",
                        "CGO_ENABLED=0", "GOMAXPROCS=2"},
	},
	{
		.name = "rust",
		.aliases = {"rs"},
		.extensions = {".rs"},
		.file = "main.rs",
		.command = {"sh", "-c", RUST_SCRIPT, "sh", "%f", "%d"},
		.needs = {"rustc", "cc"},
		.version = {"--version"},
		.package = "rustc",
	},
	{
		.name = "java",
		.extensions = {".java"},
		.shebangs = {"java"},
		.file = "Main.java",
		/*
		 * The launcher compiles the file in memory and runs the first class
		 * in it, whatever its name. A small heap to begin with: the usual one
		 * is a 64th of the host, and filled before anything is collected.
		 */
		.command = {"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                            "-Xms16m", "-XX:-UsePerfData", "-XX:ActiveProcessorCount=2",
                            "%f"},
		/* A runtime without javac has no compiler for the launcher either. */
		.needs = {"java", "javac"},
		.version = {"-version"},
		.package = "default-jdk-headless",
		.library_env = "CLASSPATH",
	},
	{
		.name = "binary",
		.aliases = {"elf"},
		.file = "main",
		.executable = true,
		.command = {"%f"},
		.package = "libc6",
	},
};

const struct dw_runtime *dw_runtime_table(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(table);
	return table;
}
