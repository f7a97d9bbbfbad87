/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/warm_own.h"

#include <string.h>

#include "base/cleanup.h"
#include "dewar/pool.h"
#include "request/limits.h"
#include "runners_embedded.h"

#define EMBEDDED(name)                             \
	{                                          \
		(const char *)(name), sizeof(name) \
	}

/* The dynamic linker loads the library, which waits at this call (runners/hooks.c). */
#define WAIT_AT(call)                                            \
	{                                                        \
		"LD_PRELOAD=" DW_ZYGOTE_PATH, "DEWAR_WAIT=" call \
	}

/*
 * LINKER_ENV: variables that the dynamic linker and libc read only at start. LOCALE_ENV:
 * variables that setlocale() reads, which an interpreter has called before it waits.
 */
#define LINKER_ENV "LD_", "MALLOC_", "GLIBC_"
#define LOCALE_ENV "LC_", "LANG"

/*
 * Lua seeds its random numbers from the time, which is too coarse, and from an address,
 * which is the same in all children of a zygote. So seed them from the kernel.
 */
#define LUA_START                                                     \
	"io.stdout:setvbuf('line')"                                   \
	"if _VERSION > 'Lua 5.3' then "                               \
	"local f = io.open('/dev/urandom', 'rb') f:setvbuf('no') "    \
	"math.randomseed(string.unpack('jj', f:read(16))) f:close() " \
	"end"

/*
 * The runner is the zygote's first code: it loads the template's packages, then calls the
 * library, which returns in each child. Most interpreters need no runner: they start as
 * for a run, and the library makes them wait before they read the code.
 */
static const struct dw_warm table[] = {
	{
		.language = "python",
		.warmth = DW_WARMTH_FORK,
		.command = {"python3", "/tmp/.dewar/zygote.py"},
		.runner_path = "/tmp/.dewar/zygote.py",
		.runner = EMBEDDED(dw_runner_python),
		.takes_args = true,
		.takes_env = true,
		.takes_library = true,
		.calls_back = true,
		.rehearsal = "print(1)\n",
		.unsafe_env = {"PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "OMP_",
                               "OPENBLAS_"},
	},
	{
		.language = "javascript",
		.warmth = DW_WARMTH_STANDBY,
		.command = {"node", "-r", "/tmp/.dewar/zygote.js", "%f"},
		.runner_path = "/tmp/.dewar/zygote.js",
		.runner = EMBEDDED(dw_runner_node),
		.takes_args = true,
		.takes_env = true,
		.unsafe_env = {LINKER_ENV, LOCALE_ENV, "NODE_", "UV_", "OPENSSL_"},
	},
	{
		.language = "ruby",
		.warmth = DW_WARMTH_FORK,
		.command = {"ruby", "--disable-gems", "-r", "/tmp/.dewar/zygote.rb",
                            "%f"},
		.env = {"PWD=/tmp", "LD_PRELOAD=" DW_ZYGOTE_PATH, "DEWAR_WAIT=fork"},
		.runner_path = "/tmp/.dewar/zygote.rb",
		.runner = EMBEDDED(dw_runner_ruby),
		.takes_env = true,
		.unsafe_start = "#!", /* Ruby reads this line's options before it waits */
		.rehearsal = "puts 1\n",
		.unsafe_env = {LINKER_ENV, LOCALE_ENV, "RUBY", "GEM", "TZ"},
	},
	{
		.language = "php",
		.warmth = DW_WARMTH_FORK,
		.command = {"php", "-d", "display_errors=stderr", "-d", "log_errors=0",
                            "-d", "html_errors=0", "%f"},
		.env = WAIT_AT("/tmp/main.php"),
		.takes_env = true,
		.rehearsal = "<?php echo 1, \"\\n\";\n",
		.unsafe_env = {LINKER_ENV, LOCALE_ENV, "PHP", "TZ"},
	},
	{
		/* takes_env is unset: Perl owns its environment before it waits. */
		.language = "perl",
		.warmth = DW_WARMTH_FORK,
		.command = {"perl", "-M5.006;$|++", "%f"},
		.env = WAIT_AT("/tmp/main.pl"),
		.rehearsal = "print 1, \"\\n\";\n",
	},
	{
		.language = "lua",
		.warmth = DW_WARMTH_FORK,
		.command = {"lua", "-e", LUA_START, "%f"},
		.env = WAIT_AT("start"),
		.takes_args = true,
		.takes_env = true,
		.rehearsal = "print(1)\n",
		.unsafe_env = {LINKER_ENV},
	},
	{
		.language = "r",
		.warmth = DW_WARMTH_FORK,
		.command = {"Rscript", "--vanilla", "%f"},
		.runner_path = "/tmp/main.R",
		.runner = EMBEDDED(dw_runner_r),
		.calls_back = true,
		.rehearsal = "cat(1, '\\n')\n",
	},
	{
		.language = "bash",
		.warmth = DW_WARMTH_FORK,
		.command = {"bash", "%f"},
		.env = WAIT_AT("start"),
		.takes_args = true,
		.takes_env = true,
		.rehearsal = "echo 1\n",
		.unsafe_env = {LINKER_ENV},
	},
	{
		.language = "sh",
		.warmth = DW_WARMTH_FORK,
		.command = {"sh", "%f"},
		.env = WAIT_AT("start"),
		.takes_args = true,
		.takes_env = true,
		.rehearsal = "echo 1\n",
		.unsafe_env = {LINKER_ENV},
	},
	{
		.language = "zsh",
		.warmth = DW_WARMTH_FORK,
		.command = {"zsh", "-f", "%f"},
		.env = WAIT_AT("start"),
		.takes_args = true,
		.takes_env = true,
		.rehearsal = "echo 1\n",
		.unsafe_env = {LINKER_ENV},
	},
};

const struct dw_warm *dw_warm_find(const struct dw_runtime *runtime)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(table[i].language, runtime->name) == 0)
			return &table[i];
	return NULL;
}

struct dw_bytes dw_zygote_library(void)
{
	return (struct dw_bytes)EMBEDDED(dw_runner_zygote);
}

/* Interpreters read some variables only when they start. */
static bool is_safe_env(const struct dw_warm *warm, const char *name)
{
	if (!warm->takes_env)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(warm->unsafe_env) && warm->unsafe_env[i]; i++)
		if (strncmp(name, warm->unsafe_env[i], strlen(warm->unsafe_env[i])) == 0)
			return false;
	return true;
}

static bool is_safe_code(const struct dw_warm *warm, struct dw_bytes code)
{
	size_t len = warm->unsafe_start ? strlen(warm->unsafe_start) : 0;

	return len == 0 || code.len < len ||
	       memcmp(code.data, warm->unsafe_start, len) != 0;
}

bool dw_template_has_image(const struct dw_template *t, const struct dw_request *req)
{
	return strcmp(t->image, req->image ? req->image : "") == 0;
}

bool dw_template_fits(const struct dw_template *t, const struct dw_spec *spec)
{
	const struct dw_request *req = spec->req;
	uint64_t files = req->command ? strlen(req->command) : req->code.len;

	if (spec->runtime != t->runtime || req->program || !dw_template_has_image(t, req))
		return false;
	if (!is_safe_code(t->warm, req->code))
		return false;
	/* A warm cell's root exists already, and shows all programs. */
	if (req->allowed_commands)
		return false;
	/* A runner that waits without the library cannot receive a memfd. */
	if (t->warm->warmth == DW_WARMTH_STANDBY && dw_job_is_long(spec))
		return false;
	if (!t->warm->takes_args && req->n_args > 0)
		return false;
	if (spec->limits.io_bytes != 0)
		return false;
	for (size_t i = 0; i < req->n_env; i++)
		if (!is_safe_env(t->warm, req->env[i].name))
			return false;
	if (req->workspace && t->runtime->library_env && !t->warm->takes_library)
		return false;
	/* If the files may not fit in /tmp, run cold: the launcher reports the cause. */
	for (size_t i = 0; i < req->n_files; i++) {
		files += req->files[i].content.len + DW_TMP_INODE_BYTES;
		if (strcmp(req->files[i].name, t->runtime->file) == 0)
			return false;
	}
	return files < spec->limits.tmp_bytes / 2;
}

bool dw_template_fits_standby(const struct dw_template *t, const struct dw_spec *spec)
{
	const struct dw_request *req = spec->req;
	struct dw_limits built = {0};

	dw_limits_defaults(&built, dw_warm_level());
	return dw_template_fits(t, spec) && !req->workspace && req->n_writable == 0 &&
	       req->network == DW_NETWORK_NONE && dw_limits_fit(&built, &spec->limits);
}

const struct dw_template_config *dw_pool_templates(size_t *ret_count)
{
	static const char *const data[] = {"numpy", "pandas",  "matplotlib.pyplot",
	                                   "scipy", "sklearn", "seaborn",
	                                   NULL};
	static const char data_rehearsal[] =
		"import numpy, pandas, matplotlib.pyplot\n"
		"frame = pandas.DataFrame({'a': range(4), 'b': numpy.arange(4.0)})\n"
		"print(frame.sum(), frame.describe(), numpy.random.rand(2))\n";
	static const struct dw_template_config all[] = {
		{.name = "python", .language = "python"},
		{
			.name = "python-data",
			.language = "python",
			.preload = data,
			.rehearsal = data_rehearsal,
		},
		{.name = "javascript", .language = "javascript"},
		{.name = "ruby", .language = "ruby"},
		{.name = "php", .language = "php"},
		{.name = "perl", .language = "perl"},
		{.name = "lua", .language = "lua"},
		{.name = "r", .language = "r"},
		{.name = "bash", .language = "bash"},
		{.name = "sh", .language = "sh"},
		{.name = "zsh", .language = "zsh"},
	};

	*ret_count = ARRAY_SIZE(all);
	return all;
}
