/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar tool-schema: hand over to dewar-serve, which has the tools.
 */
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/hand.h"
#include "cli/report.h"

static const char *const formats[] = {"mcp", "openai", "anthropic"};

struct settings {
	const char *format;
};

static int take_format(const char *value, void *field, struct dw_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(value, formats[i]) == 0)
			return dw_take_text(value, field, err);
	return dw_fail(err, DW_E_INVALID, 0,
	               "no format \"%.64s\", there are mcp, openai and anthropic", value);
}

static const struct dw_option options[] = {
	{
		.name = "format",
		.arg = "FORMAT",
		.help = "mcp (the default), openai or anthropic",
		.take = take_format,
		.field = offsetof(struct settings, format),
	},
	{0},
};

static const struct dw_option_group group = {"Output", options};

static int tool_schema(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {.format = formats[0]};
	struct dw_hand hand = {.n = 0};
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	r = dw_options_parse(cmd, argc, argv, &set, &parsed, &err);
	if (r > 0)
		return dw_report_flush();
	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(&err, DW_E_INVALID, 0,
		            "\"%s\" is too much; see `dewar tool-schema --help`",
		            parsed.operands[0]);
	dw_parsed_finish(&parsed);
	if (r == 0) {
		dw_hand_add(&hand, "", "dewar-serve");
		dw_hand_add(&hand, "", "tool-schema");
		dw_hand_add(&hand, "format", set.format);
		(void)dw_hand_over(&hand, &err);
		dw_hand_finish(&hand);
	}
	return dw_report_error(&err, dw_options_want_json(argc, argv));
}

const struct dw_command dw_command_tool_schema = {
	.name = "tool-schema",
	.summary = "Print our tools as function calling of others wants them",
	.usage = {"[--format mcp|openai|anthropic]"},
	.example = {"dewar tool-schema --format openai",
                    "dewar tool-schema --format anthropic | jq '.[].name'"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = tool_schema,
};
