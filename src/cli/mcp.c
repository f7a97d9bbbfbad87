/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar mcp: hand over to dewar-serve, as `dewar serve` does.
 */
#include "cli/command.h"
#include "cli/hand.h"
#include "cli/report.h"

struct settings {
	const char *config;
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

static int mcp(const struct dw_command *cmd, int argc, char **argv)
{
	struct dw_hand hand = {.n = 0};
	struct dw_parsed parsed = {0};
	struct settings set = {0};
	struct dw_error err = {0};
	int r;

	r = dw_options_parse(cmd, argc, argv, &set, &parsed, &err);
	if (r > 0)
		return dw_report_flush();
	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(&err, DW_E_INVALID, 0,
		            "\"%s\" is too much; see `dewar mcp --help`",
		            parsed.operands[0]);
	dw_parsed_finish(&parsed);
	if (r == 0) {
		dw_hand_add(&hand, "", "dewar-serve");
		dw_hand_add(&hand, "", "mcp");
		dw_hand_add(&hand, "config", set.config);
		dw_hand_add(&hand, "audit", set.audit);
		(void)dw_hand_over(&hand, &err);
		dw_hand_finish(&hand);
	}
	return dw_report_error(&err, dw_options_want_json(argc, argv));
}

const struct dw_command dw_command_mcp = {
	.name = "mcp",
	.summary = "Run code for an AI agent: an MCP server on standard input and output",
	.usage = {"[--config FILE] [--audit FILE]"},
	.example = {"dewar mcp", "claude mcp add dewar -- dewar mcp"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = mcp,
};
