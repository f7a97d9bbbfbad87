/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The languages.
 *
 * The aims of an entry, in this order: code that runs in a plain install of the language
 * runs here; its output arrives even if the program is killed; the program fits in a
 * small cell (256 MB, 64 threads, half a core) on a large host; it starts fast.
 *
 * A cell does not see its own limits, only the memory and cores of the host. Interpreters
 * and compilers that adapt to these numbers are therefore configured to stay small: one
 * thread per core would exceed the limit on processes on a host with 64 cores.
 */
#include "languages/runtime.h"

#include "base/cleanup.h"

/*
 * RubyGems makes the start of Ruby slow (44 ms with it, 7 ms without), but half of the
 * libraries that come with Ruby ("prime", "matrix", "minitest") are found only by
 * RubyGems. So Ruby starts without RubyGems and loads it on first use: when a require
 * fails, or when the program uses gem or Gem. The spelling help is loaded if the program
 * ends with a NameError. Ruby accepts a prelude only from a file; this prelude removes
 * its file.
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
 * The code is bundled, so that "./helper" finds helper.ts, and becomes a module, so that
 * top-level await works. The banner defines the names that only CommonJS has, as globals,
 * so that code can define its own (const require = createRequire(...)). Types are
 * dropped, not checked. With the source map, errors have the line numbers of the
 * original.
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
 * By default, gcc's garbage collection depends on the memory of the host: on a host with
 * 24 GB, compiling <bits/stdc++.h> and a std::regex takes 300 MB. With this setting it
 * takes 230 MB and a fifth more time. Small programs do not need that much.
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

/* Without debug tables, which makes linking faster. */
#define GO_SCRIPT                                                        \
	"go build -p 2 -ldflags='-s -w' -o \"$2/main\" \"$1\" || exit\n" \
	"dir=$2; shift 2\n"                                              \
	"exec \"$dir/main\" \"$@\""

/* Overflow is an error, as with a plain `cargo run`, but the code is optimized. */
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
		/* -I -S would save 3 ms of 9, but hide Debian's packages (numpy). */
		.command = {"python3", "%f"},
		/*
		 * -I: no code of the request runs before the hook. Python then ignores
		 * the variables in env, so -u and -B replace them.
		 */
		.hooked = {"python3", "-I", "-u", "-B", "%h", "%f"},
		.alone = true,
		.needs = {"python3"},
		.version = {"--version"},
		.package = "python3",
		/* OMP_NUM_THREADS: numpy starts one thread per core of the host. */
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
		 * No limit for the heap: it grows only with live objects, and so fits in
		 * the cell; a program that keeps too much ends with reason "oom".
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
		/* esbuild is a Go program: one thread per core. */
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
		/* PHP prints code without an opening tag instead of running it. */
		.opening = {"<?", "<?php "},
		/*
		 * Without -n, which would save 4 ms of 12: the ini files load extensions.
		 * Errors go to stderr, as with Debian's ini files.
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
		/* -M prepends "use 5.006;$|++;" to line 1: output is not buffered. */
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
		/* --vanilla: no site file, which only sets an unreachable mirror. */
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
		/* C++20 takes 450 ms to compile a hello, not 330; older code compiles. */
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
		/* One file is not a module; no downloads; no C compiler. */
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
		 * java compiles the file in memory and runs its first class, whatever the
		 * name. -Xms16m: the default initial heap is a 64th of the host's memory,
		 * and Java fills it before it collects garbage.
		 */
		.command = {"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                            "-Xms16m", "-XX:-UsePerfData", "-XX:ActiveProcessorCount=2",
                            "%f"},
		/* java can compile only if javac is installed. */
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
