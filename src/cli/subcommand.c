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

static int refuse_operand(const struct dw_command *cmd, const char *operand,
                          struct dw_error *err)
{
	return dw_fail(err, DW_E_INVALID, 0,
	               "unexpected argument \"%.64s\"; see `dewar %s --help`", operand,
	               cmd->name);
}

/* "list, show or prune" */
static void name_all(const struct dw_subcommand *table, char *ret, size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	for (const struct dw_subcommand *sub = table; sub->name && used < size; sub++)
		used += (size_t)snprintf(ret + used, size - used, "%s%s",
		                         sub == table  ? ""
		                         : sub[1].name ? ", "
		                                       : " or ",
		                         sub->name);
}

static const struct dw_subcommand *find(const struct dw_subcommand *table,
                                        const char *name, struct dw_error *err)
{
	struct dw_guess guess = {.typed = name};
	const struct dw_subcommand *sub;
	char all[128];

	for (sub = table; sub->name; sub++) {
		if (strcmp(sub->name, name) == 0)
			return sub;
		dw_guess_offer(&guess, sub->name);
	}
	name_all(table, all, sizeof(all));
	(void)dw_fail(err, DW_E_INVALID, 0, "the subcommand must be %s, not \"%.64s\"",
	              all, name);
	(void)dw_suggest(err, &guess, "");
	return NULL;
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
	const struct dw_subcommand *sub;
	char all[128];

	if (parsed->n_operands == 0) {
		name_all(cmd->subcommands, all, sizeof(all));
		return dw_fail(err, DW_E_INVALID, 0,
		               "no subcommand given; must be %s; see `dewar %s --help`",
		               all, cmd->name);
	}
	sub = find(cmd->subcommands, parsed->operands[0], err);
	if (!sub || check(cmd, parsed, sub, err) < 0)
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
	if (!listing->failed)
		return dw_report_json(listing->array);
	json_decref(listing->array);
	return dw_report_json(NULL); /* reports that memory ran out */
}
