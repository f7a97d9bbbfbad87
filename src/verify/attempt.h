/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_ATTEMPT_H
#define DW_VERIFY_ATTEMPT_H

#include <jansson.h>

#include "verify/listen.h"
#include "verify/range.h"
#include "verify/verify.h"

/* What the suite runs, by full path. */
struct dw_tools {
	const char *dewar;
	const char *attacks; /* all those that are in C */
	const char *image;   /* for level docker, or NULL: the level's own */
	const char *runtime; /* of the engine, or NULL: its own */
};

/* Said of a row about warm cells whose cell was none. */
#define DW_RAN_COLD "it ran cold"

/* One attack, tried once. */
struct dw_observed {
	bool fired;       /* an oracle saw it get through */
	char seen[256];   /* what the oracle saw */
	char failed[256]; /* why the attempt says nothing, or "" */
	char *said;       /* stdout and stderr of it, both roles */
	json_t *result;   /* of the cell that the verdict is about; NULL without one */
	int landlock;     /* the ABI of this kernel, or 0 */
	bool root;        /* are we root of the host? */
};

#define DW_AT_BARE "bare" /* no cell at all */
#define DW_AT_ROOT "root" /* no cell, as mighty as root is in the range */

/*
 * Try the attack at a level of dewar's, or at one of the two above. 0 with
 * *ret filled in, which dw_observed_finish() frees; -1 if the range is broken.
 */
int dw_attempt(const struct dw_attack *attack, const struct dw_target *at,
               const struct dw_range *range, const struct dw_tools *tools,
               struct dw_observed *ret, struct dw_error *err);

void dw_observed_finish(struct dw_observed *outcome);

#endif
