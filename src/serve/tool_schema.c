/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dewar tool-schema`: the tools of MCP, in the formats of function calling.
 */
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

static const struct {
	const char *name;
	json_t *(*make)(json_t *tool);
} formats[] = {
	{"mcp", as_mcp},
	{"openai", as_openai},
	{"anthropic", as_anthropic},
};

int dw_tool_schema_main(const struct dw_tool_schema_settings *set)
{
	const char *name = set->format ? set->format : formats[0].name;
	json_auto_t *list = json_array();
	json_t *(*make)(json_t * tool) = NULL;
	autofree char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(name, formats[i].name) == 0)
			make = formats[i].make;
	for (const struct dw_mcp_tool *t = dw_mcp_tools; make && t->name; t++) {
		json_auto_t *tool = t->describe();

		(void)json_array_append_new(list, tool ? make(tool) : NULL);
	}
	text = make ? json_dumps(list, JSON_INDENT(2)) : NULL;
	if (text && puts(text) >= 0 && fflush(stdout) == 0)
		return 0;
	(void)fputs("dewar: cannot write the schemas\n", stderr);
	return EXIT_OURS;
}
