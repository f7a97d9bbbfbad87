/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/foreground.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/run_options.h"
#include "dewar/dewar.h"

struct settings {
	struct dw_run_settings job; /* must be first: shared options point into it */
	const char *code;
	const char *request;
};

static const struct dw_option code_options[] = {
	{
		.name = "code",
		.letter = 'c',
		.arg = "CODE",
		.help = "Run this code instead of a file",
		.take = dw_take_text,
		.field = offsetof(struct settings, code),
	},
	{
		.name = "request",
		.arg = "FILE|-",
		.help = "Read the whole request as JSON from this file",
		.take = dw_take_text,
		.field = offsetof(struct settings, request),
		.fits = DW_FITS_FILE,
	},
	{0},
};

static const struct dw_option_group code_group = {"Code", code_options};

/* The code to run, as named by the operands. */
struct source {
	const char *language; /* NULL: the file determines it */
	const char *path;     /* "-" is standard input; NULL: the code is in -c */
	const char *const *args;
	size_t n_args;
};

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * Parse LANG -c CODE, LANG -, LANG FILE or FILE. A first word that names a language is
 * taken as LANG, even if the current folder has a file of that name. But if no word
 * follows that could name its code, and there is such a file, the word is taken as FILE.
 */
static int find_source(const struct dw_parsed *parsed, const char *code,
                       struct source *ret, struct dw_error *err)
{
	const char *const *words = parsed->operands;
	size_t n = parsed->n_operands;
	/*
	 * The second word may name a file, unless "--" separates it from the first: then
	 * it is an argument of the program.
	 */
	bool second = n > 1 && parsed->n_before != 1;
	struct source src = {0};
	size_t used = 1;

	if (n == 0)
		return dw_fail(err, DW_E_INVALID, 0, "%s",
		               code ? "no language given for the code; see `dewar run --help`"
		                    : "no code given; use FILE, or LANG and -c CODE "
		                      "(see `dewar run --help`)");

	if (code) {
		if (dw_language_check(words[0], err) < 0)
			return -1;
		src.language = words[0];
	} else if (strcmp(words[0], "-") == 0) {
		return dw_fail(err, DW_E_INVALID, 0,
		               "cannot tell the language of standard input; use `dewar "
		               "run LANG -`");
	} else if (!dw_language_name(words[0])) {
		/* The first word may be a misspelled LANG of LANG - or LANG FILE. */
		if (second && !strpbrk(words[0], "./") && !is_file(words[0]))
			return dw_language_check(words[0], err);
		src.path = words[0];
	} else if (second) {
		src.language = words[0];
		src.path = words[1];
		used = 2;
	} else if (is_file(words[0])) {
		src.path = words[0];
	} else {
		return dw_fail(err, DW_E_INVALID, 0,
		               "no code given: after `dewar run %s`, use -c CODE, a "
		               "FILE, or - for standard input",
		               words[0]);
	}

	src.args = words + used;
	src.n_args = n - used;
	*ret = src;
	return 0;
}

static int read_code(struct dw_run_options *job, const struct source *src,
                     struct dw_error *err)
{
	struct dw_request *req = &job->req;
	size_t len;

	if (!src->language && dw_input_is_program(src->path)) {
		req->program = src->path;
		return 0;
	}
	if (dw_input_read(src->path, DW_INPUT_CODE_MAX, &job->code, &len, err) < 0)
		return -1;

	req->code = (struct dw_bytes){job->code, len};
	req->language = src->language;
	if (!req->language)
		req->language = dw_language_of_file(src->path, job->code, len);
	if (!req->language)
		return dw_fail(err, DW_E_INVALID, 0,
		               "cannot tell the language of %s; use `dewar run LANG %s`",
		               src->path, src->path);

	/* We have read standard input to its end, so the program gets none. */
	if (strcmp(src->path, "-") == 0)
		req->stdin_fd = -1;
	return 0;
}

static int from_operands(struct dw_run_options *job, const struct settings *set,
                         const struct dw_parsed *parsed, struct dw_error *err)
{
	struct dw_request *req = &job->req;
	struct source src = {0};

	if (find_source(parsed, set->code, &src, err) < 0)
		return -1;
	if (dw_run_options_fill(job, &set->job, err) < 0)
		return -1;

	req->args = src.args;
	req->n_args = src.n_args;
	if (src.path)
		return read_code(job, &src, err);

	req->language = src.language;
	req->code = (struct dw_bytes){set->code, strlen(set->code)};
	return 0;
}

static int from_request(const struct dw_command *cmd, struct dw_run_options *job,
                        const struct settings *set, const struct dw_parsed *parsed,
                        struct dw_error *err)
{
	const struct dw_option *other;

	other = dw_options_besides(cmd, parsed, &dw_run_options_output_group, "request");
	if (other)
		return dw_fail(
			err, DW_E_INVALID, 0,
			"--%s cannot be combined with --request; put it into the request",
			other->name);
	if (parsed->n_operands > 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "unexpected argument \"%s\"; with --request, put it into "
		               "the request",
		               parsed->operands[0]);
	return dw_run_options_load(job, set->request, &set->job, err);
}

static int prepare(const struct dw_command *cmd, struct dw_run_options *job,
                   const struct dw_run_settings *settings, const struct dw_parsed *parsed,
                   struct dw_error *err)
{
	const struct settings *set = (const struct settings *)settings;

	if (set->request)
		return from_request(cmd, job, set, parsed, err);
	return from_operands(job, set, parsed, err);
}

static int run(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};

	return dw_foreground_command(cmd, argc, argv, &set.job, prepare);
}

const struct dw_command dw_command_run = {
	.name = "run",
	.summary = "Run code in a fresh cell, and pass on its output and exit status",
	.usage =
		{
			"[OPTIONS] LANG -c CODE [-- ARG...]",
			"[OPTIONS] FILE [ARG...]",
			"[OPTIONS] LANG FILE|- [ARG...]",
			"[OUTPUT OPTIONS] --request FILE|-",
		},
	.example =
		{
			"dewar run python -c 'print(2**64)'",
			"dewar run script.rb -- --verbose",
			"echo 'console.log(6 * 7)' | dewar run javascript -",
			"dewar run plot.py --file data.csv --collect '*.png' --into charts",
			"dewar run --json --timeout 2s --memory 64M bash -c ':(){ :|:& };:; sleep 9'",
		},
	.groups =
		{
			&code_group,
			&dw_run_options_walls_group,
			&dw_run_options_modules_group,
			&dw_run_options_limits_group,
			&dw_run_options_files_group,
			&dw_run_options_output_group,
		},
	.passes_args = true,
	.fits = DW_FITS_LANGUAGE,
	.run = run,
};
