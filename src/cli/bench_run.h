/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_BENCH_RUN_H
#define DW_CLI_BENCH_RUN_H

#include "cli/bench.h"
#include "dewar/pool.h"

/* A way to get a piece of code run, once: as a bare command, or in a cell. */
struct dw_bench_way {
	const char *const *argv; /* a command, ending in NULL, or ... */
	const char *language;    /* ... code for a cell */
	const char *template;    /* or NULL */
	const char *code;
	const char *expect;   /* what it prints */
	struct dw_pool *pool; /* NULL: a cold cell */
	int cancel_fd;
};

/* The command, and the code, that all the others are compared with. */
extern const struct dw_bench_way dw_bench_bare_python;
extern const struct dw_bench_way dw_bench_python;

/* Run it to its end. -1: it failed, printed something else, or we are to stop. */
int dw_bench_run(const struct dw_bench_way *way, double *ret_ms, struct dw_error *err);

uint64_t dw_bench_now_ns(void);

/* ---- a pool with one template, to measure in ---- */

struct dw_bench_pool {
	struct dw_pool *pool;
	const char *name;
	unsigned standby; /* cells that are to wait; 0: every run forks */
	struct dw_template_stats before;
};

/* Waits until it is ready. On failure nothing is left to close. */
int dw_bench_pool_open(const struct dw_bench *b, const char *name, unsigned standby,
                       struct dw_bench_pool *ret, struct dw_error *err);

/* Wait until all its cells are there again. */
int dw_bench_pool_ready(const struct dw_bench *b, const struct dw_bench_pool *pool,
                        struct dw_error *err);

/* The same, and until it has ended those that were used, and does nothing. */
int dw_bench_pool_settle(const struct dw_bench *b, const struct dw_bench_pool *pool,
                         struct dw_error *err);

void dw_bench_pool_stats(const struct dw_bench_pool *pool, struct dw_template_stats *ret);

/* Runs count from here on. */
void dw_bench_pool_mark(struct dw_bench_pool *pool);

/* Let the row know by which way its runs went, and end all that waits. */
void dw_bench_pool_close(struct dw_bench_pool *pool, struct dw_bench_row *row);

#endif
