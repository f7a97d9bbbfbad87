/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-serve: what `dewar serve` and its kin hand over to. A program of its own,
 * since it is linked with libraries that the static dewar cannot have.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "serve/words.h"

#define EXIT_OURS 125

static const struct {
	const char *name;
	int (*run)(char *const *words);
} commands[] = {
	{"serve", dw_serve_main},
	{"mcp", dw_mcp_main},
	{"tool-schema", dw_tool_schema_main},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argv + 2);
	(void)fputs("dewar-serve is called by dewar; see `dewar serve --help`\n", stderr);
	return EXIT_OURS;
}
