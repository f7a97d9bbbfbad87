/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_POOL_H
#define DW_WARM_POOL_H

#include "dewar/pool.h"
#include "levels/level.h"

/*
 * The pool's interface for run/. A cell that was taken runs one program, which starts
 * with dw_pool_go(), and is then given back to be destroyed.
 */

/* Returns a warm cell that fits, or NULL: then the run is cold. */
struct dw_cell *dw_pool_take(struct dw_pool *pool, const struct dw_level *level,
                             const struct dw_spec *spec);
int dw_pool_go(struct dw_pool *pool, struct dw_cell *cell, const struct dw_spec *spec,
               struct dw_error *err);
void dw_pool_give_back(struct dw_pool *pool, struct dw_cell *cell);

#endif
