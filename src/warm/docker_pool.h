/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_DOCKER_POOL_H
#define DW_WARM_DOCKER_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "dewar/pool.h"
#include "levels/level.h"

/*
 * Containers of level docker that stand ready: started, with nothing in them but our
 * own init, which waits for an order. Each is used once. Whoever takes one never
 * waits; making and ending them is done by the pool's keeper, without waiting either,
 * since each has a process of its own that does it.
 */
struct dw_docker_pool;

int dw_docker_pool_new(const struct dw_docker_config *config, size_t n,
                       struct dw_docker_pool **ret, struct dw_error *err);

/* Ends them all, and waits for it. Accepts NULL. */
void dw_docker_pool_free(struct dw_docker_pool *s);

/* One that fits, or NULL. */
struct dw_cell *dw_docker_pool_take(struct dw_docker_pool *s, const struct dw_spec *spec);

/* A run is over, or never began: it is ended. */
void dw_docker_pool_give_back(struct dw_docker_pool *s, struct dw_cell *cell);

/* Make what is missing, bury what has ended. */
void dw_docker_pool_keep(struct dw_docker_pool *s);

/* Wait until each kind has so many ready. */
int dw_docker_pool_warm_up(struct dw_docker_pool *s, unsigned standby,
                           uint64_t timeout_ms, struct dw_error *err);

#endif
