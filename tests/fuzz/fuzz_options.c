/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: the words of a command line, each ending in a NUL. Every word is
 * accepted, or refused with an error that says how to get help.
 */
#undef NDEBUG
#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/run_options.h"
#include "fuzz/fuzz.h"
#include "request/limits.h"
#include "run/request_check.h"

#include <getopt.h>

#define WORDS_MAX 32

static const struct dw_command command = {
	.name = "fuzz",
	.summary = "Nothing",
	.groups = {&dw_run_options_walls_group, &dw_run_options_modules_group,
                   &dw_run_options_limits_group, &dw_run_options_files_group,
                   &dw_run_options_output_group},
	.passes_args = true,
};

static bool is_word(char *const *argv, const char *operand)
{
	for (; *argv; argv++)
		if (*argv == operand)
			return true;
	return false;
}

/* 0 stands for the default, so no option may leave one; and none leaves its range. */
static void check_limits(const struct dw_run_settings *set, uint64_t given)
{
	const struct dw_option *row;

	for (size_t i = 0; (row = dw_options_row(&command, i, NULL)) != NULL; i++)
		if ((given >> i & 1) &&
		    row->field - offsetof(struct dw_run_settings, limits) <
		            sizeof(set->limits))
			assert(*(const uint64_t *)((const char *)set + row->field) > 0);
	assert(dw_limits_check(&set->limits, NULL) == 0);
}

/* The parser already refuses what no later step accepts. */
static void check_settings(const struct dw_run_settings *set)
{
	struct dw_error err = {0};
	struct dw_run_options job;

	assert((unsigned)set->network < DW_NETWORK_COUNT);
	assert(!set->level || set->level[0] != '\0');
	if (set->files.n > 0) /* would read a file */
		return;
	dw_run_options_init(&job);
	if (dw_run_options_fill(&job, set, &err) < 0)
		fuzz_check_refusal(&err);
	else
		assert(job.req.n_env == set->env.n && job.req.n_files == 0);
	job.req.command = "true";
	if (err.code == DW_OK && dw_request_check(&job.req, &err) < 0)
		fuzz_check_refusal(&err);
	dw_run_options_finish(&job);
}

static void parse(int argc, char **argv)
{
	char *given[WORDS_MAX + 2];
	struct dw_run_settings set = {0};
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	memcpy(given, argv, sizeof(given));
	optind = 0; /* start over */
	r = dw_options_parse(&command, argc, argv, &set, &parsed, &err);
	assert(memcmp(given, argv, sizeof(given)) == 0);
	if (r == 0) {
		assert(parsed.n_before <= parsed.n_operands);
		assert(parsed.n_operands < (size_t)argc);
		for (size_t i = 0; i < parsed.n_operands; i++)
			assert(is_word(argv, parsed.operands[i]));
		check_limits(&set, parsed.given);
		check_settings(&set);
	} else {
		assert(!parsed.operands && parsed.n_operands == 0);
	}
	if (r < 0) {
		assert(err.code == DW_E_INVALID && strstr(err.text, "--help"));
		fuzz_check_refusal(&err);
	}
	dw_parsed_finish(&parsed);
	dw_run_settings_finish(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char name[] = "fuzz", *argv[WORDS_MAX + 2] = {name};
	int argc = 1;

	(void)clearenv(); /* it would set defaults */
	while (in.size > 0 && argc <= WORDS_MAX)
		argv[argc++] = fuzz_text(&in);
	(void)dw_options_want_json(argc, argv);
	parse(argc, argv);
	while (argc > 1)
		free(argv[--argc]);
	return 0;
}
