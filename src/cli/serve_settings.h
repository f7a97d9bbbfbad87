/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_SERVE_SETTINGS_H
#define DW_CLI_SERVE_SETTINGS_H

#include <stdbool.h>

/*
 * The options of `dewar serve`, `mcp` and `tool-schema`. dewar parses them to print help
 * and errors, and executes dewar-serve with the same arguments; that program parses them
 * again by the same tables. Strings are NULL if an option was not given.
 */
struct dw_serve_settings {
	const char *listen;
	const char *socket;
	const char *state;
	const char *config;
	const char *policy;
	bool check;
};

struct dw_mcp_settings {
	const char *config;
	const char *policy;
	const char *audit;
};

enum dw_tool_format {
	DW_TOOL_FORMAT_MCP = 0,
	DW_TOOL_FORMAT_OPENAI,
	DW_TOOL_FORMAT_ANTHROPIC,
	DW_TOOL_FORMAT_COUNT
};

struct dw_tool_schema_settings {
	enum dw_tool_format format;
};

union dw_any_serve_settings {
	struct dw_serve_settings serve;
	struct dw_mcp_settings mcp;
	struct dw_tool_schema_settings tool_schema;
};

#endif
