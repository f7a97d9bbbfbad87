/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/subcommand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "cli/command.h"
#include "cli/print.h"

/* More than any command has. */
#define SUBCOMMANDS_MAX 8

static int refuse_operand(const struct dw_command *cmd, const char *operand,
                          struct dw_error *err)
{
	return dw_fail(err, DW_E_INVALID, 0,
	               "unexpected argument \"%.64s\"; see `dewar %s --help`", operand,
	               cmd->name);
}

const char *const *dw_subcommand_names(const struct dw_command *cmd)
{
	static const char *names[SUBCOMMANDS_MAX + 1];
	size_t n = 0;

	for (; n < SUBCOMMANDS_MAX && cmd->subcommands[n].name; n++)
		names[n] = cmd->subcommands[n].name;
	names[n] = NULL;
	return names;
}

static int check(const struct dw_command *cmd, const struct dw_parsed *parsed,
                 const struct dw_subcommand *sub, struct dw_error *err)
{
	size_t most = sub->operand ? 2 : 1;
	const struct dw_option *row;
	char name[64];

	for (size_t i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++) {
		(void)snprintf(name, sizeof(name), " %s ", row->name);
		if ((parsed->given & UINT64_C(1) << i) && !strstr(sub->options, name))
			return dw_fail(err, DW_E_INVALID, 0,
			               "`dewar %s %s` does not accept --%s", cmd->name,
			               sub->name, row->name);
	}
	if (sub->operand && sub->operand[0] != '[' && parsed->n_operands < 2)
		return dw_fail(err, DW_E_INVALID, 0, "`dewar %s %s` needs %s", cmd->name,
		               sub->name, sub->operand);
	if (parsed->n_operands > most)
		return refuse_operand(cmd, parsed->operands[most], err);
	return 0;
}

static int act_on_subcommand(const struct dw_command *cmd, const struct dw_parsed *parsed,
                             const void *settings, struct dw_error *err)
{
	const char *const *names = dw_subcommand_names(cmd);
	const struct dw_subcommand *sub;
	char all[DW_WORDS_TEXT_MAX];
	int chosen;

	if (parsed->n_operands == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "no subcommand given; must be %s; see `dewar %s --help`",
		               dw_words_text(names, all), cmd->name);
	chosen = dw_choose("the subcommand", parsed->operands[0], names, err);
	if (chosen < 0)
		return -1;
	sub = &cmd->subcommands[chosen];
	if (check(cmd, parsed, sub, err) < 0)
		return -1;
	return sub->act(settings, parsed->n_operands > 1 ? parsed->operands[1] : NULL,
	                err);
}

/* ---- commands ---- */

int dw_command_act(const struct dw_command *cmd, const struct dw_parsed *parsed,
                   const void *settings, struct dw_error *err)
{
	if (cmd->subcommands)
		return act_on_subcommand(cmd, parsed, settings, err);
	if (parsed->n_operands > 0)
		return refuse_operand(cmd, parsed->operands[0], err);
	return cmd->act(settings, err);
}

int dw_command_main(const struct dw_command *cmd, int argc, char **argv)
{
	autofree void *settings = NULL;
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	if (cmd->run)
		return cmd->run(cmd, argc, argv);
	settings = calloc(1, cmd->settings_size + 1);
	r = settings ? dw_options_parse(cmd, argc, argv, settings, &parsed, &err)
	             : dw_fail(&err, DW_E_INTERNAL, ENOMEM, "cannot read the options");
	if (r > 0)
		return dw_report_flush();
	if (r == 0)
		r = dw_command_act(cmd, &parsed, settings, &err);
	dw_parsed_finish(&parsed);
	return r < 0 ? dw_report_error(&err, dw_options_want_json(argc, argv)) : r;
}

/* ---- lists ---- */

struct dw_listing dw_listing_start(bool json)
{
	return (struct dw_listing){.array = json ? json_array() : NULL};
}

int dw_listing_add(struct dw_listing *listing, json_t *item)
{
	listing->n++;
	if (listing->array && json_array_append_new(listing->array, item) < 0)
		listing->failed = true;
	return listing->failed;
}

int dw_listing_report(struct dw_listing *listing)
{
	if (!listing->array)
		return dw_report_flush();
	/* NULL reports that memory ran out. */
	return dw_report_json(listing->failed ? NULL : json_incref(listing->array));
}

void dw_listing_finish(struct dw_listing *listing)
{
	json_decref(listing->array);
}
