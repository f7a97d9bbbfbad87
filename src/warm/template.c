/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/template.h"

#include <string.h>

#include "base/cleanup.h"
#include "dewar/pool.h"
#include "levels/limits.h"
#include "runners_embedded.h"

#define EMBEDDED(name)                             \
	{                                          \
		(const char *)(name), sizeof(name) \
	}

/*
 * The runner is what an interpreter starts with, in the zygote: it loads what the
 * template asks for, then the library, and from there on it is in the child.
 */
static const struct dw_warm table[] = {
	{
		.language = "python",
		.warmth = DW_WARMTH_FORK,
		.command = {"python3", "/tmp/.dewar/zygote.py"},
		.runner_path = "/tmp/.dewar/zygote.py",
		.runner = EMBEDDED(dw_runner_python),
		.takes_words = true,
		.calls_back = true,
		.rehearsal = "print(1)\n",
		.unsafe_env = {"PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "OMP_",
                               "OPENBLAS_"},
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

/* Some variables are heeded when an interpreter starts, and never again. */
static bool is_safe_env(const struct dw_warm *warm, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(warm->unsafe_env) && warm->unsafe_env[i]; i++)
		if (strncmp(name, warm->unsafe_env[i], strlen(warm->unsafe_env[i])) == 0)
			return false;
	return true;
}

bool dw_template_fits(const struct dw_template *t, const struct dw_spec *spec)
{
	const struct dw_request *req = spec->req;
	uint64_t files = req->command ? strlen(req->command) : req->code.len;

	if (spec->runtime != t->runtime || req->image || req->program)
		return false;
	if (!t->warm->takes_words && (req->n_args > 0 || req->n_env > 0))
		return false;
	for (size_t i = 0; i < req->n_env; i++)
		if (!is_safe_env(t->warm, req->env[i].name))
			return false;
	/* What may not fit is written by who can say so: the cold way. */
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

	dw_limits_defaults(&built, &dw_level_container);
	return dw_template_fits(t, spec) && !req->workspace && req->n_writable == 0 &&
	       req->network == DW_NETWORK_NONE &&
	       spec->limits.memory_bytes == built.memory_bytes &&
	       spec->limits.cpu_percent == built.cpu_percent &&
	       spec->limits.tmp_bytes == built.tmp_bytes &&
	       spec->limits.pids == built.pids && spec->limits.files == built.files;
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
	};

	*ret_count = ARRAY_SIZE(all);
	return all;
}
