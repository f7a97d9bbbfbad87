/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-serve: `dewar serve`, `dewar mcp` and `dewar tool-schema` execute this
 * program and pass on their arguments. It is separate from dewar because it links
 * libraries that the static dewar cannot link.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/print.h"
#include "serve/serve_own.h"

/* dewar has parsed the same arguments, so an error here is rare. */
static int parse(const struct dw_command *cmd, int argc, char **argv, void *set)
{
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r = dw_options_parse(cmd, argc, argv, set, &parsed, &err);

	dw_parsed_finish(&parsed);
	if (r < 0)
		(void)dw_report_error(&err, false);
	return r;
}

static int serve(int argc, char **argv)
{
	struct dw_serve_settings set = {0};

	return parse(&dw_command_serve, argc, argv, &set) == 0 ? dw_serve_main(&set)
	                                                       : DW_EXIT_OURS;
}

static int mcp(int argc, char **argv)
{
	struct dw_mcp_settings set = {0};

	return parse(&dw_command_mcp, argc, argv, &set) == 0 ? dw_mcp_main(&set)
	                                                     : DW_EXIT_OURS;
}

static int tool_schema(int argc, char **argv)
{
	struct dw_tool_schema_settings set = {0};

	return parse(&dw_command_tool_schema, argc, argv, &set) == 0
	               ? dw_tool_schema_main(&set)
	               : DW_EXIT_OURS;
}

void dw_serve_block_signals(sigset_t *ret)
{
	(void)sigemptyset(ret);
	(void)sigaddset(ret, SIGTERM);
	(void)sigaddset(ret, SIGINT);
	(void)sigaddset(ret, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, ret, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], dw_command_serve.name) == 0)
		return serve(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], dw_command_mcp.name) == 0)
		return mcp(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], dw_command_tool_schema.name) == 0)
		return tool_schema(argc - 1, argv + 1);
	(void)fputs("only dewar starts dewar-serve; see `dewar serve --help`\n", stderr);
	return DW_EXIT_OURS;
}
