/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_POOL_H
#define DW_VERIFY_POOL_H

#include "verify/party.h"

/*
 * Two cells of one zygote. `dewar run` makes one cell and ends, and a zygote ends
 * with it; so the two parties of an attempt on warm cells are run by a process of
 * ours that has a pool, as a daemon has one.
 *
 *	suite ── a request a line, as JSON ──> dewar-pool ── its result ──> a pipe each
 */

#define DW_POOL_NAME "dewar-pool"
#define DW_POOL_CELLS 2

/* The process itself; argv[1] is the way. */
_Noreturn void dw_pool_main(char **argv);

/* Start it, and the first party in it. */
int dw_pool_start(struct dw_party parties[DW_POOL_CELLS], const struct dw_attack *attack,
                  const struct dw_target *at, const struct dw_stage *stage,
                  struct dw_error *err);

/* The second party. */
int dw_pool_go_on(struct dw_party parties[DW_POOL_CELLS], const struct dw_attack *attack,
                  const struct dw_stage *stage, struct dw_error *err);

/* Both are over: let it end its cells, and see it end. */
void dw_pool_end(struct dw_party *first);

#endif
