/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_SUBCOMMAND_H
#define DW_CLI_SUBCOMMAND_H

#include <jansson.h>

#include "cli/options.h"

/*
 * The first operand of some commands names a subcommand: `dewar audit list`. All
 * subcommands share the command's options, of which each accepts some.
 */
struct dw_subcommand {
	const char *name;    /* NULL: the end of the table */
	const char *operand; /* or NULL; "[FILE]" is optional, and NULL for act() if
	                      * it is not given */
	const char *options; /* the accepted ones: " file json " */

	/* Returns the exit status, or -1 with an error. */
	int (*act)(const void *settings, const char *operand, struct dw_error *err);
};

/* The names of a command's subcommands, ending in NULL; until the next call. */
const char *const *dw_subcommand_names(const struct dw_command *cmd);

/* A list that is printed row by row, or as one JSON array. */
struct dw_listing {
	json_t *array; /* NULL: print each row at once */
	bool failed;
	size_t n;
};

struct dw_listing dw_listing_start(bool json);

/*
 * Count a row, and append it to the array, if there is one, taking over the item.
 * Returns 0, or 1 if there is no memory to continue.
 */
int dw_listing_add(struct dw_listing *listing, json_t *item);

/* Print the array, or flush the printed rows: the exit status. */
int dw_listing_report(struct dw_listing *listing);

#endif
