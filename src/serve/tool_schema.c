/* SPDX-License-Identifier: Apache-2.0 */
/* `dewar tool-schema`: prints the MCP tools in the formats of function-calling APIs. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "mcp/call.h"
#include "serve/serve_own.h"

#define EXIT_OURS 125

static json_t *get(const json_t *tool, const char *key)
{
	return json_incref(json_object_get(tool, key));
}

static json_t *as_mcp(json_t *tool)
{
	return json_incref(tool);
}

static json_t *as_openai(json_t *tool)
{
	return json_pack("{s:s, s:{s:o, s:o, s:o}}", "type", "function", "function",
	                 "name", get(tool, "name"), "description",
	                 get(tool, "description"), "parameters",
	                 get(tool, "inputSchema"));
}

static json_t *as_anthropic(json_t *tool)
{
	return json_pack("{s:o, s:o, s:o}", "name", get(tool, "name"), "description",
	                 get(tool, "description"), "input_schema",
	                 get(tool, "inputSchema"));
}

static json_t *(*const makers[DW_TOOL_FORMAT_COUNT])(json_t *tool) = {
	[DW_TOOL_FORMAT_MCP] = as_mcp,
	[DW_TOOL_FORMAT_OPENAI] = as_openai,
	[DW_TOOL_FORMAT_ANTHROPIC] = as_anthropic,
};

int dw_tool_schema_main(const struct dw_tool_schema_settings *set)
{
	json_auto_t *list = json_array();
	autofree char *text = NULL;

	for (const struct dw_mcp_tool *t = dw_mcp_tools; t->name; t++) {
		json_auto_t *tool = t->describe();

		(void)json_array_append_new(list,
		                            tool ? makers[set->format](tool) : NULL);
	}
	text = json_dumps(list, JSON_INDENT(2));
	if (text && puts(text) >= 0 && fflush(stdout) == 0)
		return 0;
	(void)fputs("dewar: cannot write the schemas\n", stderr);
	return EXIT_OURS;
}
