/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_CELL_H
#define DW_WARM_CELL_H

#include "warm/zygote.h"

/*
 * A warm cell: all its walls stand, its program waits behind them for a letter,
 * and init has looked at both. It is a cell like any other (levels/launched.h)
 * and is used once.
 */

/* Serve what a cell has to say just now; wait until it does, or fd is readable. */
void dw_warm_serve(struct dw_cell *cell);
int dw_warm_wait(struct dw_cell *cell, int fd, uint64_t deadline_ms);

/* Build an empty one, made to measure for spec, whose way is the zygote's. */
int dw_warm_build(const struct dw_spec *spec, struct dw_cell **ret, struct dw_error *err);

/* A zygote has forked into it: see to it that init knows who that is. */
int dw_warm_enter(struct dw_cell *cell, struct dw_error *err);

/* For those that cannot fork: start one that waits. */
int dw_warm_start(const struct dw_spec *spec, struct dw_cell **ret, struct dw_error *err);

/*
 * Hand over the letter: from here on it runs. The cell belongs to spec now, which
 * must outlive it; dw_warm_forget() unties them once it has ended.
 */
int dw_warm_go(struct dw_cell *cell, const struct dw_spec *spec, struct dw_error *err);
void dw_warm_forget(struct dw_cell *cell);

#endif
