/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar mcp: hand over to dewar-serve, as `dewar serve` does.
 */
#include "cli/command.h"
#include "cli/exec_helper.h"

struct settings {
	const char *config;
	const char *policy;
	const char *audit;
};

static const struct dw_option options[] = {
	{
		.name = "config",
		.arg = "FILE",
		.help = "Read levels, limits and the pool from this YAML file",
		.take = dw_take_text,
		.field = offsetof(struct settings, config),
		.fits = DW_FITS_FILE,
	},
	{
		.name = "policy",
		.arg = "NAME|FILE",
		.help = "The policy, before the config's: open, standard, strict, or a file",
		.take = dw_take_text,
		.field = offsetof(struct settings, policy),
		.fits = DW_FITS_FILE,
	},
	{
		.name = "audit",
		.arg = "FILE",
		.help = "Record runs in this file, not in your own record",
		.take = dw_take_text,
		.field = offsetof(struct settings, audit),
		.fits = DW_FITS_FILE,
	},
	{0},
};

static const struct dw_option_group group = {"Settings", options};

static void fill(struct dw_helper *hand, const void *settings)
{
	const struct settings *set = settings;

	dw_helper_add(hand, "config", set->config);
	dw_helper_add(hand, "policy", set->policy);
	dw_helper_add(hand, "audit", set->audit);
}

static int mcp(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};

	return dw_helper_command(cmd, argc, argv, "dewar-serve", &set, fill);
}

const struct dw_command dw_command_mcp = {
	.name = "mcp",
	.summary = "Run code for an AI agent: an MCP server on standard input and output",
	.usage = {"[--config FILE] [--policy NAME|FILE] [--audit FILE]"},
	.example = {"dewar mcp", "claude mcp add dewar -- dewar mcp"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = mcp,
};
