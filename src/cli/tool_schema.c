/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar tool-schema: hand over to dewar-serve, which has the tools.
 */
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/exec_helper.h"

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
	.summary = "Print our tools as function calling of others wants them",
	.usage = {"[--format mcp|openai|anthropic]"},
	.example = {"dewar tool-schema --format openai",
                    "dewar tool-schema --format anthropic | jq '.[].name'"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = tool_schema,
};
