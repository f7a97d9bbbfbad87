/* SPDX-License-Identifier: Apache-2.0 */
/* `dewar tool-schema`: executes dewar-serve, which defines the tools. */
#include "cli/command.h"
#include "cli/exec_helper.h"
#include "cli/serve_settings.h"

static const char *const formats[] = {
	[DW_TOOL_FORMAT_MCP] = "mcp",
	[DW_TOOL_FORMAT_OPENAI] = "openai",
	[DW_TOOL_FORMAT_ANTHROPIC] = "anthropic",
	[DW_TOOL_FORMAT_COUNT] = NULL,
};

static const struct dw_option options[] = {
	DW_OPTION("format", "FORMAT", NULL,
                  offsetof(struct dw_tool_schema_settings, format),
                  "mcp (the default), openai or anthropic", .fits = DW_FITS_WORDS,
                  .words = formats),
	{0},
};

static const struct dw_option_group group = {"Output", options};

const struct dw_command dw_command_tool_schema = {
	.name = "tool-schema",
	.summary = "Print the tools of `dewar mcp` for function calling",
	.usage = {"[--format mcp|openai|anthropic]"},
	.example = {"dewar tool-schema --format openai",
                    "dewar tool-schema --format anthropic | jq '.[].name'"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = dw_helper_serve,
};
