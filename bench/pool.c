/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bench/bench.h"

#define MB (1ULL << 20)
#define CELL_MB_MOST 16ULL /* the pool's memory budget per cell */
#define WARM_UP_MS 60000U
#define WARM_UP_CELL_MS 100U
#define SLICE_MS 1000U /* between checks for a signal */
#define SETTLE_MS 15   /* for the pool's work after it has refilled */
#define LONG_MS 3600000U

static const struct dw_template_config *find(const char *name)
{
	size_t n;
	const struct dw_template_config *all = dw_pool_templates(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

int dw_bench_pool_ready(const struct dw_bench *b, const struct dw_bench_pool *pool,
                        struct dw_error *err)
{
	uint64_t until = dw_now_ms() + WARM_UP_MS +
	                 (uint64_t)WARM_UP_CELL_MS * pool->standby;

	for (;;) {
		if (dw_pool_warm_up(pool->pool, pool->name, pool->standby, SLICE_MS,
		                    err) == 0)
			return 0;
		if (dw_bench_stopped(b) || err->code != DW_E_BUSY || dw_now_ms() >= until)
			return dw_wrap(err, "keep %s warm", pool->name);
		*err = (struct dw_error){0};
	}
}

int dw_bench_pool_settle(const struct dw_bench *b, const struct dw_bench_pool *pool,
                         struct dw_error *err)
{
	const struct timespec pause = {.tv_nsec = SETTLE_MS * 1000000L};

	if (dw_bench_pool_ready(b, pool, err) < 0)
		return -1;
	(void)nanosleep(&pause, NULL);
	return 0;
}

int dw_bench_pool_open(const struct dw_bench *b, const char *name, unsigned standby,
                       struct dw_bench_pool *ret, struct dw_error *err)
{
	const struct dw_template_config *template = find(name);
	struct dw_pool_config config = {
		.templates = template,
		.n_templates = 1,
		.memory_bytes = (standby + 32) * CELL_MB_MOST * MB,
		.idle_ms = LONG_MS,
		.fork_only = standby == 0,
	};
	struct dw_bench_pool pool = {.name = name, .standby = standby};

	if (!template)
		return dw_fail(err, DW_E_UNSUPPORTED, 0, "there is no template \"%s\"",
		               name);
	if (dw_pool_new(&config, &pool.pool, err) < 0)
		return -1;
	if (dw_bench_pool_ready(b, &pool, err) < 0) {
		dw_pool_free(pool.pool);
		return -1;
	}
	*ret = pool;
	return 0;
}

void dw_bench_pool_stats(const struct dw_bench_pool *pool, struct dw_template_stats *ret)
{
	dw_pool_stats(pool->pool, 0, ret);
}

void dw_bench_pool_mark(struct dw_bench_pool *pool)
{
	dw_bench_pool_stats(pool, &pool->before);
}

void dw_bench_pool_close(struct dw_bench_pool *pool, struct dw_bench_row *row)
{
	struct dw_template_stats stats;

	if (!pool->pool)
		return;
	dw_bench_pool_stats(pool, &stats);
	if (row) {
		row->standby += stats.runs_standby - pool->before.runs_standby;
		row->forked += stats.runs_forked - pool->before.runs_forked;
		row->cold += stats.runs_cold - pool->before.runs_cold;
	}
	dw_pool_free(pool->pool);
	*pool = (struct dw_bench_pool){0};
}
