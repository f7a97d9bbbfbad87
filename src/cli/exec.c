/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/foreground.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/run_options.h"

struct settings {
	struct dw_run_settings job; /* must be first: shared options point into it */
	const char *line;
};

static const struct dw_option line_options[] = {
	{
		.name = "command",
		.letter = 'c',
		.arg = "LINE",
		.help = "The command line for the shell",
		.take = dw_take_text,
		.field = offsetof(struct settings, line),
	},
	{0},
};

static const struct dw_option_group line_group = {"Command", line_options};

/* Add a word in single quotes, so that a shell reads it back unchanged. */
static void add_quoted(struct dw_buf *line, const char *word)
{
	size_t len;

	(void)dw_buf_puts(line, "'");
	for (;; word += len + 1) {
		len = strcspn(word, "'");
		(void)dw_buf_add(line, word, len);
		if (word[len] == '\0')
			break;
		(void)dw_buf_puts(line, "'\\''");
	}
	(void)dw_buf_puts(line, "'");
}

/*
 * A single word is passed to the shell as a command line. Several words are a program and
 * its arguments, which the caller's shell has already split: quote them, so that the
 * shell in the cell splits them in the same way.
 */
static int join(struct dw_run_options *job, const char *single,
                const struct dw_parsed *parsed, struct dw_error *err)
{
	autobuf struct dw_buf line;
	size_t i;

	dw_buf_init(&line, DW_INPUT_CODE_MAX);
	if (!single && parsed->n_operands == 1)
		single = parsed->operands[0];
	if (single)
		(void)dw_buf_puts(&line, single);
	for (i = 0; i < parsed->n_operands && parsed->n_operands > 1; i++) {
		if (i > 0)
			(void)dw_buf_puts(&line, " ");
		add_quoted(&line, parsed->operands[i]);
	}

	if (!line.failed)
		job->code = dw_buf_take(&line, NULL);
	if (!job->code)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot build the command");
	job->req.command = job->code;
	return 0;
}

static int prepare(const struct dw_command *cmd, struct dw_run_options *job,
                   const struct dw_run_settings *settings, const struct dw_parsed *parsed,
                   struct dw_error *err)
{
	const struct settings *set = (const struct settings *)settings;

	(void)cmd;
	if (set->line && parsed->n_operands > 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "unexpected argument \"%s\": -c already gives the command",
		               parsed->operands[0]);
	if (!set->line && parsed->n_operands == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "no command given; see `dewar exec --help`");
	if (dw_run_options_fill(job, &set->job, err) < 0)
		return -1;
	return join(job, set->line, parsed, err);
}

static int exec(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};

	return dw_foreground_command(cmd, argc, argv, &set.job, prepare);
}

const struct dw_command dw_command_exec = {
	.name = "exec",
	.summary =
		"Run a shell command in a fresh cell, and pass on its output and exit status",
	.usage =
		{
			"[OPTIONS] [-c] 'LINE'",
			"[OPTIONS] [--] COMMAND [ARG...]",
		},
	.example =
		{
			"dewar exec 'ls -l / | wc -l'",
			"dewar exec --workspace . -- grep -rn TODO .",
			"dewar exec --network full 'curl -s https://example.com'",
		},
	.groups =
		{
			&line_group,
			&dw_run_options_walls_group,
			&dw_run_options_limits_group,
			&dw_run_options_files_group,
			&dw_run_options_output_group,
		},
	.passes_args = true,
	.fits = DW_FITS_COMMAND,
	.run = exec,
};
