/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_SUBCOMMAND_H
#define DW_CLI_SUBCOMMAND_H

#include "cli/options.h"

/*
 * The first operand of some commands says what to do: `dewar audit list`. All of
 * them share the command's options, of which each takes some.
 */
struct dw_subcommand {
	const char *name;    /* NULL: the end of the table */
	const char *operand; /* what it wants behind its name, or NULL; "[FILE]" may be
	                      * left out, and is then NULL to act() */
	const char *options; /* those that mean something to it: " file json " */

	/* The exit status, or -1 with an error. */
	int (*act)(const void *settings, const char *operand, struct dw_error *err);
};

/*
 * Parse into settings, find out which, and do it: the exit status. An option that is
 * not for it is a mistake, and not passed over.
 */
int dw_subcommand_run(const struct dw_command *cmd, const struct dw_subcommand *table,
                      int argc, char **argv, void *settings);

/* The same of what was parsed already; -1 with an error. */
int dw_subcommand_act(const struct dw_command *cmd, const struct dw_subcommand *table,
                      const struct dw_parsed *parsed, const void *settings,
                      struct dw_error *err);

#endif
