/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_OUTSIDE_H
#define DW_VERIFY_OUTSIDE_H

#include <sys/types.h>

#include "verify/attempt.h"

/*
 * Attempts outside of the range, by a process that never entered it: where an engine
 * makes the cells, whatever is planted and whoever looks must be where the engine is.
 *
 *	suite, in the range ── an attack, a target ──> outside ── `dewar run` ──> engine
 *	                    <── what was observed ────
 *
 * It works on one attempt while the range tries others, and ends, with its folder,
 * when the suite hangs up.
 */
struct dw_outside {
	int fd; /* -1 if there is none */
};

/* Before the range is entered. */
int dw_outside_start(struct dw_outside *o, const struct dw_tools *tools,
                     struct dw_error *err);

/* Have an attack tried. Answers come in the order of what was asked. */
int dw_outside_ask(const struct dw_outside *o, const struct dw_attack *attack,
                   const struct dw_target *at, struct dw_error *err);

/* What came of the oldest one. As dw_attempt() answers. */
int dw_outside_wait(const struct dw_outside *o, struct dw_observed *ret,
                    struct dw_error *err);

#endif
