/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_SUBCOMMAND_H
#define DW_CLI_SUBCOMMAND_H

#include <jansson.h>

#include "cli/options.h"

/*
 * The first operand of some commands names a subcommand, as in `dewar audit list`. The
 * subcommands share the command's options; each accepts some of them.
 */
struct dw_subcommand {
	const char *name;    /* NULL: the end of the table */
	const char *operand; /* or NULL; "[FILE]" is optional */
	const char *options; /* the accepted options: " file json " */

	/*
	 * operand is NULL if it was not given. Returns the exit status, or -1 with an
	 * error.
	 */
	int (*act)(const void *settings, const char *operand, struct dw_error *err);
};

/*
 * Returns the names of a command's subcommands, ending in NULL. Valid until the next
 * call.
 */
const char *const *dw_subcommand_names(const struct dw_command *cmd);

/* A list that is printed row by row, or as one JSON array. */
struct dw_listing {
	json_t *array; /* NULL: print each row at once */
	bool failed;
	size_t n;
};

struct dw_listing dw_listing_start(bool json);

/*
 * Count a row and, if there is an array, append item to it and take ownership of item.
 * Returns 0, or 1 if memory ran out.
 */
int dw_listing_add(struct dw_listing *listing, json_t *item);

/* Print and free the array, or flush the printed rows. Returns the exit status. */
int dw_listing_report(struct dw_listing *listing);

void dw_listing_finish(struct dw_listing *listing);
#define autolisting __attribute__((cleanup(dw_listing_finish)))

#endif
