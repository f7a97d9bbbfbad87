/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/subcommand.h"

#include <stdio.h>
#include <string.h>

#include "base/choose.h"
#include "cli/command.h"
#include "cli/report.h"

/* "list, show or prune" */
static void name_all(const struct dw_subcommand *table, const char *joint, char *ret,
                     size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	for (const struct dw_subcommand *sub = table; sub->name && used < size; sub++)
		used += (size_t)snprintf(ret + used, size - used, "%s%s",
		                         sub == table  ? ""
		                         : sub[1].name ? ", "
		                                       : joint,
		                         sub->name);
}

static const struct dw_subcommand *find(const struct dw_command *cmd,
                                        const struct dw_subcommand *table,
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
	name_all(table, " or ", all, sizeof(all));
	(void)dw_fail(err, DW_E_INVALID, 0,
	              "`dewar %s` must be followed by %s, not \"%.64s\"", cmd->name, all,
	              name);
	(void)dw_suggest(err, &guess, "");
	return NULL;
}

static int check(const struct dw_command *cmd, const struct dw_parsed *parsed,
                 const struct dw_subcommand *sub, struct dw_error *err)
{
	const struct dw_option *row;
	char name[64];

	for (size_t i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++) {
		(void)snprintf(name, sizeof(name), " %s ", row->name);
		if ((parsed->given & UINT64_C(1) << i) && !strstr(sub->options, name))
			return dw_fail(err, DW_E_INVALID, 0,
			               "--%s means nothing to `dewar %s %s`", row->name,
			               cmd->name, sub->name);
	}
	if (sub->operand && sub->operand[0] != '[' && parsed->n_operands < 2)
		return dw_fail(err, DW_E_INVALID, 0, "`dewar %s %s` needs its %s",
		               cmd->name, sub->name, sub->operand);
	if (parsed->n_operands > (sub->operand ? 2 : 1))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is too much; see `dewar %s --help`",
		               parsed->operands[sub->operand ? 2 : 1], cmd->name);
	return 0;
}

int dw_subcommand_act(const struct dw_command *cmd, const struct dw_subcommand *table,
                      const struct dw_parsed *parsed, const void *settings,
                      struct dw_error *err)
{
	const struct dw_subcommand *sub;
	char all[128];

	if (parsed->n_operands == 0) {
		name_all(table, " or ", all, sizeof(all));
		return dw_fail(err, DW_E_INVALID, 0, "do what? %s; see `dewar %s --help`",
		               all, cmd->name);
	}
	sub = find(cmd, table, parsed->operands[0], err);
	if (!sub || check(cmd, parsed, sub, err) < 0)
		return -1;
	return sub->act(settings, parsed->n_operands > 1 ? parsed->operands[1] : NULL,
	                err);
}

int dw_subcommand_run(const struct dw_command *cmd, const struct dw_subcommand *table,
                      int argc, char **argv, void *settings)
{
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	r = dw_options_parse(cmd, argc, argv, settings, &parsed, &err);
	if (r > 0)
		return dw_report_flush();
	if (r == 0)
		r = dw_subcommand_act(cmd, table, &parsed, settings, &err);
	dw_parsed_finish(&parsed);
	return r < 0 ? dw_report_error(&err, dw_options_want_json(argc, argv)) : r;
}
