/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "cli/command.h"
#include "request/limits.h"

#define OPTIONS_MAX 64 /* the number of bits in given of struct dw_parsed */

/* For the row at index i, getopt_long() returns ROW + i, which is above any letter. */
#define ROW 256

/* The highest count: the kernel's PID_MAX_LIMIT, 2^22. */
#define COUNT_MAX 4194304

static const struct dw_option help_option = {
	.name = "help",
	.letter = 'h',
	.help = "Print this and exit",
};

const struct dw_option *dw_options_row(const struct dw_command *cmd, size_t index,
                                       const char **ret_title)
{
	const struct dw_option_group *const *group;
	const struct dw_option *row;

	if (ret_title)
		*ret_title = NULL;

	for (group = cmd->groups; *group; group++) {
		for (row = (*group)->options; row->name; row++) {
			if (index-- > 0)
				continue;
			if (ret_title && row == (*group)->options)
				*ret_title = (*group)->title;
			return row;
		}
	}
	if (index > 0)
		return NULL;
	if (ret_title)
		*ret_title = "Help";
	return &help_option;
}

void dw_strings_finish(struct dw_strings *strings)
{
	free(strings->list);
	*strings = (struct dw_strings){0};
}

void dw_parsed_finish(struct dw_parsed *parsed)
{
	free(parsed->operands);
	*parsed = (struct dw_parsed){0};
}

int dw_take_flag(const char *value, void *field, struct dw_error *err)
{
	(void)value;
	(void)err;
	*(bool *)field = true;
	return 0;
}

int dw_take_text(const char *value, void *field, struct dw_error *err)
{
	(void)err;
	*(const char **)field = value;
	return 0;
}

int dw_take_string(const char *value, void *field, struct dw_error *err)
{
	struct dw_strings *strings = field;
	const char **list;

	/* A command line is short, so the list grows by one entry at a time. */
	list = reallocarray(strings->list, strings->n + 1, sizeof(*list));
	if (!list)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot store \"%s\"", value);

	list[strings->n++] = value;
	strings->list = list;
	return 0;
}

/* 0 would mean the default, so an explicit 0 is most likely a mistake. */
static int take_number(uint64_t number, const char *value, void *field,
                       struct dw_error *err)
{
	if (number == 0)
		return dw_fail(err, DW_E_INVALID, 0, "must be more than 0, not \"%.64s\"",
		               value);

	*(uint64_t *)field = number;
	return 0;
}

int dw_take_size(const char *value, void *field, struct dw_error *err)
{
	uint64_t number;

	if (dw_parse_size(value, &number, err) < 0)
		return -1;
	return take_number(number, value, field, err);
}

int dw_take_count(const char *value, void *field, struct dw_error *err)
{
	uint64_t number;

	if (dw_parse_uint(value, COUNT_MAX, &number, err) < 0)
		return -1;
	return take_number(number, value, field, err);
}

#define DW_LIMIT(id, ...)                                                            \
	int dw_take_limit_##id(const char *value, void *field, struct dw_error *err) \
	{                                                                            \
		return dw_limit_parse(DW_LIMIT_##id, value, field, err);             \
	}
#include "dewar/limits.def"

static void print_option(const struct dw_option *row)
{
	char left[64];

	(void)snprintf(left, sizeof(left), "%c%c%s--%s%s%s", row->letter ? '-' : ' ',
	               row->letter ? row->letter : ' ', row->letter ? ", " : "  ",
	               row->name, row->arg ? " " : "", row->arg ? row->arg : "");
	(void)printf("  %-26s  %s\n", left, row->help);
}

static void print_help(const struct dw_command *cmd)
{
	const struct dw_option *row;
	const char *title;
	size_t i;

	for (i = 0; cmd->usage[i]; i++)
		(void)printf("%s dewar %s%s%s\n", i == 0 ? "Usage:" : "      ", cmd->name,
		             cmd->usage[i][0] != '\0' ? " " : "", cmd->usage[i]);
	(void)printf("\n%s.\n", cmd->summary);

	for (i = 0; (row = dw_options_row(cmd, i, &title)) != NULL; i++) {
		if (title)
			(void)printf("\n%s:\n", title);
		print_option(row);
	}

	for (i = 0; cmd->example[i]; i++)
		(void)printf("%s  %s\n", i == 0 ? "\nExamples:\n" : "", cmd->example[i]);
}

/* Append to the error how to get help. Returns -1. */
static int refuse(const struct dw_command *cmd, struct dw_error *err)
{
	size_t len = strlen(err->text);

	(void)snprintf(err->text + len, sizeof(err->text) - len,
	               "; see `dewar %s --help`", cmd->name);
	return -1;
}

static int unknown(const struct dw_command *cmd, const char *arg, struct dw_error *err)
{
	size_t len = strcspn(arg, "=");
	const struct dw_option *row;
	struct dw_guess guess = {0};
	char name[64];
	size_t i;

	(void)snprintf(name, sizeof(name), "%.*s", (int)len, arg);
	if (strncmp(name, "--", 2) == 0) {
		guess.typed = name + 2;
		for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++)
			dw_guess_offer(&guess, row->name);
	}

	/* Most unknown options are meant for the program. */
	(void)dw_fail(err, DW_E_INVALID, 0,
	              cmd->passes_args && !guess.best
	                      ? "unknown option \"%s\" (put -- before the program's own "
	                        "options)"
	                      : "unknown option \"%s\"",
	              name);
	(void)dw_suggest(err, &guess, "--");
	return refuse(cmd, err);
}

/*
 * Returns the index of the value among the option's words; for a list, the index of its
 * last word.
 */
static int choose(const struct dw_option *row, const char *value, struct dw_error *err)
{
	char word[64];
	size_t len;
	int chosen;

	if (!row->several)
		return dw_choose(NULL, value, row->words, err);
	for (;; value += len + 1) {
		len = strcspn(value, ",");
		(void)snprintf(word, sizeof(word), "%.*s", (int)len, value);
		chosen = dw_choose(NULL, word, row->words, err);
		if (chosen < 0 || value[len] == '\0')
			return chosen;
	}
}

static int take_value(const struct dw_option *row, const char *value, void *settings,
                      struct dw_error *err)
{
	void *field = (char *)settings + row->field;
	int chosen = row->words ? choose(row, value, err) : 0;

	if (chosen < 0)
		return -1;
	if (row->take)
		return row->take(value, field, err);
	*(unsigned *)field = (unsigned)chosen;
	return 0;
}

static int take(const struct dw_command *cmd, const struct dw_option *row,
                const char *value, void *settings, struct dw_error *err)
{
	if (take_value(row, value, settings, err) == 0)
		return 0;

	(void)dw_wrap(err, "--%s", row->name);
	return err->code == DW_E_INVALID ? refuse(cmd, err) : -1;
}

/* Take options that were not given from environment variables. */
static int take_env(const struct dw_command *cmd, uint64_t given, void *settings,
                    struct dw_error *err)
{
	const struct dw_option *row;
	const char *value;
	size_t i, j;

	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++) {
		if (given & UINT64_C(1) << i)
			continue;
		for (j = 0; j < ARRAY_SIZE(row->env) && row->env[j]; j++) {
			value = getenv(row->env[j]);
			if (!value || value[0] == '\0')
				continue;
			if (take_value(row, value, settings, err) < 0)
				return dw_wrap(err, "the variable %s", row->env[j]);
			break;
		}
	}
	return 0;
}

/* Returns the index of the row for a return value of getopt_long(), or for optopt. */
static size_t row_index(const struct dw_command *cmd, int c)
{
	const struct dw_option *row;
	size_t i;

	if (c >= ROW)
		return (size_t)(c - ROW);
	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++)
		if (row->letter == c)
			break;
	return i;
}

static int parse_one(const struct dw_command *cmd, int c, char **argv, void *settings,
                     struct dw_parsed *parsed, struct dw_error *err)
{
	const struct dw_option *row;
	char letter[3] = "-";
	size_t index;

	if (c == 1) {
		parsed->operands[parsed->n_operands++] = optarg;
		return 0;
	}

	index = row_index(cmd, c == '?' || c == ':' ? optopt : c);
	row = optopt == 0 && c == '?' ? NULL : dw_options_row(cmd, index, NULL);

	if (c == '?' && row) {
		(void)dw_fail(err, DW_E_INVALID, 0, "--%s takes no argument", row->name);
		return refuse(cmd, err);
	}
	if (c == '?') {
		letter[1] = (char)optopt;
		return unknown(cmd, optopt ? letter : argv[optind - 1], err);
	}
	if (c == ':') {
		(void)dw_fail(err, DW_E_INVALID, 0, "--%s needs an argument, %s",
		              row->name, row->arg);
		return refuse(cmd, err);
	}

	if (row == &help_option) {
		print_help(cmd);
		return 1;
	}

	parsed->given |= UINT64_C(1) << index;
	return take(cmd, row, optarg, settings, err);
}

int dw_options_parse(const struct dw_command *cmd, int argc, char **argv, void *settings,
                     struct dw_parsed *ret, struct dw_error *err)
{
	/* "-": return operands in order, so that we see which ones precede "--". */
	char letters[2 + 2 * OPTIONS_MAX + 1] = "-:";
	struct option longs[OPTIONS_MAX + 1] = {0};
	struct dw_parsed parsed = {0};
	const struct dw_option *row;
	size_t len = strlen(letters);
	size_t i;
	int c;
	int r = 0;

	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL && i < OPTIONS_MAX;
	     i++) {
		longs[i] = (struct option){
			.name = row->name,
			.has_arg = row->arg ? required_argument : no_argument,
			.val = ROW + (int)i,
		};
		if (row->letter)
			letters[len++] = row->letter;
		if (row->letter && row->arg)
			letters[len++] = ':';
	}

	parsed.operands = calloc((size_t)argc + 1, sizeof(*parsed.operands));
	if (!parsed.operands)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM,
		               "cannot read the command line");

	opterr = 0;
	while (r == 0 && (c = getopt_long(argc, argv, letters, longs, NULL)) != -1)
		r = parse_one(cmd, c, argv, settings, &parsed, err);

	if (r == 0)
		r = take_env(cmd, parsed.given, settings, err);
	if (r != 0) {
		dw_parsed_finish(&parsed);
		return r;
	}

	parsed.n_before = parsed.n_operands;
	while (optind < argc)
		parsed.operands[parsed.n_operands++] = argv[optind++];
	*ret = parsed;
	return 0;
}

const struct dw_option *dw_options_besides(const struct dw_command *cmd,
                                           const struct dw_parsed *parsed,
                                           const struct dw_option_group *group,
                                           const char *name)
{
	const struct dw_option *row, *other;
	size_t i;

	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++) {
		if (!(parsed->given & UINT64_C(1) << i) || strcmp(row->name, name) == 0)
			continue;
		for (other = group->options; other->name && other != row; other++)
			;
		if (!other->name)
			return row;
	}
	return NULL;
}

bool dw_options_want_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}
