/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_READ_OWN_H
#define DW_ANALYSIS_READ_OWN_H

#include "analysis/read.h"

/* What the files that do the reading share, and the languages need not know. */

/* How deep expressions are followed. */
#define DW_DEPTH_MAX 150U

void dw_arena_free(struct dw_arena *arena);

/* NULL without memory. */
struct dw_names *dw_names_create(void);
/* All names have been given what they are given: make it quick to find. */
int dw_names_seal(struct dw_names *names);
void dw_names_free(struct dw_names *names);

#endif
