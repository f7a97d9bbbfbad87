/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar tool-schema: hand over to dewar-serve, which defines the tools.
 */
#include "base/choose.h"
#include "cli/command.h"
#include "cli/exec_helper.h"

static const char *const formats[] = {"mcp", "openai", "anthropic", NULL};

struct settings {
	const char *format;
};

static int take_format(const char *value, void *field, struct dw_error *err)
{
	if (dw_choose(NULL, value, formats, err) < 0)
		return -1;
	return dw_take_text(value, field, err);
}

static const struct dw_option options[] = {
	{
		.name = "format",
		.arg = "FORMAT",
		.help = "mcp (the default), openai or anthropic",
		.take = take_format,
		.field = offsetof(struct settings, format),
		.fits = DW_FITS_WORDS,
		.words = "mcp openai anthropic",
	},
	{0},
};

static const struct dw_option_group group = {"Output", options};

static void fill(struct dw_helper *hand, const void *settings)
{
	const struct settings *set = settings;

	dw_helper_add(hand, "format", set->format);
}

static int tool_schema(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {.format = formats[0]};

	return dw_helper_command(cmd, argc, argv, "dewar-serve", &set, fill);
}

const struct dw_command dw_command_tool_schema = {
	.name = "tool-schema",
	.summary = "Print the tools of `dewar mcp` for function calling",
	.usage = {"[--format mcp|openai|anthropic]"},
	.example = {"dewar tool-schema --format openai",
                    "dewar tool-schema --format anthropic | jq '.[].name'"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = tool_schema,
};
