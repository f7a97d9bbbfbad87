/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job's arguments and environment, put where main() and libc expect them.
 */
#include "runners/zygote.h"

#include <linux/mman.h>

#define READ_WRITE 3

static void *get_memory(size_t size)
{
	long at = sys(__NR_mmap, 0, size, READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Without memory for its arguments the program cannot run. */
	if (at < 0 && at > -4096)
		(void)sys(__NR_exit_group, 125);
	return (void *)at;
}

static uint32_t count(uint32_t kind, size_t *ret_bytes)
{
	const char *at = dewar_job;
	struct dw_record r;
	uint32_t n = 0;

	while (dw_job_next(&at, &r)) {
		if (r.kind != kind)
			continue;
		n++;
		*ret_bytes += (size_t)r.name_len + r.len + 2;
	}
	return n;
}

static char *add(char *to, const char *text, size_t len, char last)
{
	dw_copy(to, text, len);
	to[len] = last;
	return to + len + 1;
}

char **dw_job_args(char **argv, int *argc)
{
	size_t bytes = 0;
	uint32_t n = count(DW_JOB_ARG, &bytes);
	const char *at = dewar_job;
	struct dw_record r;
	char **all, *text;
	int i = 0;

	if (n == 0)
		return argv;
	all = get_memory(bytes + sizeof(*all) * ((size_t)*argc + n + 1));
	text = (char *)(all + *argc + n + 1);
	for (; i < *argc; i++)
		all[i] = argv[i];
	while (dw_job_next(&at, &r)) {
		if (r.kind != DW_JOB_ARG)
			continue;
		all[i++] = text;
		text = add(text, r.data, r.len, '\0');
	}
	all[i] = 0;
	*argc = i;
	return all;
}

/* Returns true if "NAME=value" has this name. */
static bool is_called(const char *variable, const struct dw_record *r)
{
	for (uint32_t i = 0; i < r->name_len; i++)
		if (variable[i] == '\0' || variable[i] != r->name[i])
			return false;
	return variable[r->name_len] == '=';
}

/* Put the variable into env; it replaces an earlier one of the same name. */
static void set(char **env, char *text, const struct dw_record *r)
{
	while (*env && !is_called(*env, r))
		env++;
	*env = text;
}

char **dw_job_env(char **env)
{
	size_t bytes = 0, have = 0;
	uint32_t n = count(DW_JOB_ENV, &bytes);
	const char *at = dewar_job;
	struct dw_record r;
	char **all, *text;

	if (n == 0)
		return env;
	while (env[have])
		have++;
	all = get_memory(bytes +
	                 sizeof(*all) * (have + n + 1)); /* all zero, so NULL ends it */
	text = (char *)(all + have + n + 1);
	for (size_t i = 0; i < have; i++)
		all[i] = env[i];
	while (dw_job_next(&at, &r)) {
		if (r.kind != DW_JOB_ENV)
			continue;
		set(all, text, &r);
		text = add(text, r.name, r.name_len, '=');
		text = add(text, r.data, r.len, '\0');
	}
	return all;
}
