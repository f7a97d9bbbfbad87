/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure whether a run gets slower when many standby cells are held.
 *
 * Both cases share one host, so they cannot alternate run by run. The order is few,
 * many, few cells, so that changes in the host's load affect both.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "bench/bench.h"

#define HELD 500U
#define MEMORY_CELLS 16U
#define MB 1048576.0

static double available_mb(void)
{
	char text[4096];
	const char *at;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) <= 0)
		return NAN;
	at = strstr(text, "\nMemAvailable:");
	return at ? (double)strtoull(at + strlen("\nMemAvailable:"), NULL, 10) / 1024
	          : NAN;
}

/* 500 cells need more descriptors than a shell's soft limit allows. */
static void raise_files(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
}

struct phase {
	unsigned held;
	uint64_t runs;
	struct dw_samples *warm;
	struct dw_samples *bare;
	double *ret_mb; /* host memory used by the held cells, or NULL */
};

static int sample(const struct dw_bench *b, const struct dw_bench_pool *pool,
                  const struct phase *phase, struct dw_error *err)
{
	struct dw_bench_workload bare = dw_bench_bare_python, warm = dw_bench_python;
	double ms = 0;

	bare.cancel_fd = warm.cancel_fd = b->cancel_fd;
	warm.pool = pool->pool;
	if (dw_bench_run(&bare, &ms, err) < 0)
		return -1;
	(void)dw_samples_add(phase->bare, ms);
	if (dw_bench_run(&warm, &ms, err) < 0)
		return -1;
	(void)dw_samples_add(phase->warm, ms);
	return dw_bench_pool_settle(b, pool, err);
}

static int run_phase(const struct dw_bench *b, struct dw_bench_row *row,
                     const struct phase *phase, struct dw_error *err)
{
	double before = available_mb();
	struct dw_bench_pool pool = {0};
	int r = 0;

	dw_bench_progress(b, "%u cells held", phase->held);
	/* One more cell than are held: each run takes one. */
	if (dw_bench_pool_open(b, "python", phase->held + 1, &pool, err) < 0)
		return -1;
	if (phase->ret_mb)
		*phase->ret_mb = before - available_mb();
	for (uint64_t i = 0; r == 0 && i < phase->runs; i++)
		r = sample(b, &pool, phase, err);
	dw_bench_pool_close(&pool, row);
	return r;
}

static void conclude(struct dw_bench_row *row, struct dw_samples *few,
                     struct dw_samples *many, struct dw_samples *bare, double mb)
{
	double alone = dw_samples_percentile(few, 50);

	dw_bench_times(row, many);
	row->ratio_to_bare = row->p50_ms / dw_samples_percentile(bare, 50);
	dw_bench_note(row, "p50 is %.2f ms with none held", alone);
	if (mb > 0)
		dw_bench_note(row,
		              "%u cells use %.0f MB of host memory, %.1f MB each, "
		              "kernel memory included",
		              HELD, mb, mb / HELD);
	dw_bench_check(row, &(struct dw_bench_check){
				    .what = "p50 / p50 with none held",
				    .unit = "x",
				    .value = row->p50_ms / alone,
				    .bar = 1.3,
				    .aim = 1.1,
			    });
}

void dw_bench_held(struct dw_bench *b)
{
	autosamples struct dw_samples few = {0}, many = {0}, bare = {0}, other = {0};
	uint64_t runs = b->rounds > 1 ? b->rounds / 2 : 1;
	double mb = NAN;
	const struct phase phases[] = {
		{0, runs, &few, &other, NULL},
		{HELD, runs * 2, &many, &bare, &mb},
		{0, runs, &few, &other, NULL},
	};
	struct dw_error err = {0};
	struct dw_bench_row *row;

	if (!dw_bench_is_selected(b, "held"))
		return;
	row = dw_bench_add(b, "held", "print(1): warm, on standby, 500 others held");
	raise_files();
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		if (run_phase(b, row, &phases[i], &err) == 0)
			continue;
		dw_bench_skip(row, err.text);
		return;
	}
	conclude(row, &few, &many, &bare, mb);
}

void dw_bench_memory(struct dw_bench *b)
{
	struct dw_template_stats stats;
	struct dw_bench_pool pool = {0};
	struct dw_error err = {0};
	struct dw_bench_row *row;

	if (!dw_bench_is_selected(b, "memory"))
		return;
	dw_bench_progress(b, "memory");
	row = dw_bench_add(b, "memory", "memory of a python cell on standby (PSS)");
	if (dw_bench_pool_open(b, "python", MEMORY_CELLS, &pool, &err) < 0) {
		dw_bench_skip(row, err.text);
		return;
	}
	dw_bench_pool_stats(&pool, &stats);
	dw_bench_pool_close(&pool, NULL);
	if (stats.standby_bytes == 0) {
		dw_bench_skip(row, "the kernel does not report the memory of a cell");
		return;
	}
	row->n = 1;
	dw_bench_note(row,
	              "one of %u that share a zygote; shared pages count in proportion",
	              MEMORY_CELLS);
	dw_bench_check(row, &(struct dw_bench_check){
				    .what = "PSS of one",
				    .unit = "MB",
				    .value = (double)stats.standby_bytes / MB,
				    .bar = 3,
				    .aim = 1.5,
			    });
}
