/* SPDX-License-Identifier: Apache-2.0 */
/* `dewar mcp`: executes dewar-serve, as `dewar serve` does. */
#include "cli/command.h"
#include "cli/exec_helper.h"
#include "cli/serve_settings.h"

static const struct dw_option options[] = {
	{
		.name = "config",
		.arg = "FILE",
		.help = "Read levels, limits and the pool from this YAML file",
		.take = dw_take_text,
		.field = offsetof(struct dw_mcp_settings, config),
		.fits = DW_FITS_FILE,
	},
	{
		.name = "policy",
		.arg = "NAME|FILE",
		.help = "Policy, instead of the config's: open, standard, strict, or a "
			"file",
		.take = dw_take_text,
		.field = offsetof(struct dw_mcp_settings, policy),
		.fits = DW_FITS_FILE,
	},
	{
		.name = "audit",
		.arg = "FILE",
		.help = "Record runs in this file instead of your own audit record",
		.take = dw_take_text,
		.field = offsetof(struct dw_mcp_settings, audit),
		.fits = DW_FITS_FILE,
	},
	{0},
};

static const struct dw_option_group group = {"Settings", options};

const struct dw_command dw_command_mcp = {
	.name = "mcp",
	.summary = "Run code for an AI agent: an MCP server on standard input and output",
	.usage = {"[--config FILE] [--policy NAME|FILE] [--audit FILE]"},
	.example = {"dewar mcp", "claude mcp add dewar -- dewar mcp"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = dw_helper_serve,
};
