/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure a hundred callers at the same moment: with a hundred standby cells, with only a
 * zygote to fork from, and with a hundred bare python3 processes for comparison.
 */
#include <math.h>

#include "bench/bench.h"

#define CALLERS 100
#define BURSTS 5

struct burst {
	struct dw_bench_row *row;
	struct dw_samples each; /* the time of each run */
	struct dw_samples all;  /* the time of each burst, until its last run ended */
};

static int burst_once(const struct dw_bench *b, const struct dw_bench_workload *workload,
                      struct burst *burst, struct dw_error *err)
{
	struct dw_bench_load load = {
		.workload = workload,
		.threads = CALLERS,
		.runs_each = 1,
	};
	int r = dw_bench_load(b, &load, err);

	if (r == 0) {
		(void)dw_samples_join(&burst->each, &load.samples);
		(void)dw_samples_add(&burst->all, load.span_ms);
		burst->row->failed += load.failed;
	}
	if (load.failed > 0 && burst->row->note[0] == '\0')
		dw_bench_note(burst->row, "%s", load.first.text);
	dw_samples_finish(&load.samples);
	return r;
}

static int burst_warm(const struct dw_bench *b, unsigned standby, struct burst *burst,
                      struct dw_error *err)
{
	struct dw_bench_workload workload = dw_bench_python;
	struct dw_bench_pool pool = {0};
	int r;

	if (dw_bench_pool_open(b, "python", standby, &pool, err) < 0)
		return -1;
	workload.pool = pool.pool;
	workload.cancel_fd = b->cancel_fd;
	r = burst_once(b, &workload, burst, err);
	dw_bench_pool_close(&pool, burst->row);
	return r;
}

static int burst_bare(const struct dw_bench *b, struct burst *burst, struct dw_error *err)
{
	struct dw_bench_workload workload = dw_bench_bare_python;

	workload.cancel_fd = b->cancel_fd;
	return burst_once(b, &workload, burst, err);
}

static void conclude(struct burst *burst, struct burst *bare)
{
	double last = dw_samples_percentile(&burst->all, 50);
	struct dw_bench_row *row = burst->row;

	if (row->skipped[0] == '\0') {
		dw_bench_times(row, &burst->each);
		row->ratio_to_bare = last / dw_samples_percentile(&bare->all, 50);
		dw_bench_note(row,
		              "%llu of %zu succeeded; the last ended after %.0f ms in "
		              "the median burst of %zu, %.0f ms in the worst",
		              (unsigned long long)row->n, (size_t)(row->n + row->failed),
		              last, burst->all.n,
		              dw_samples_percentile(&burst->all, 100));
	}
	dw_samples_finish(&burst->each);
	dw_samples_finish(&burst->all);
}

static void add_check(struct dw_bench_row *row, double last)
{
	dw_bench_check(row, &(struct dw_bench_check){
				    .what = "until the last of 100 ends",
				    .unit = "ms",
				    .value = last,
				    .bar = 250,
				    .aim = 120,
			    });
}

void dw_bench_burst(struct dw_bench *b)
{
	int bursts = b->quick ? 1 : BURSTS;
	struct burst standby = {0}, fork = {0}, bare = {0};
	struct dw_error err = {0};

	if (!dw_bench_is_selected(b, "burst"))
		return;
	bare.row = dw_bench_add(b, "burst-bare", "100 at once: bare python3");
	fork.row = dw_bench_add(b, "burst-fork", "100 at once: warm, nothing on standby");
	standby.row = dw_bench_add(b, "burst", "100 at once: warm, 100 on standby");
	for (int i = 0; i < bursts && !dw_bench_stopped(b); i++) {
		dw_bench_progress(b, "burst %d of %d", i + 1, bursts);
		if (burst_bare(b, &bare, &err) < 0)
			dw_bench_skip(bare.row, err.text);
		if (burst_warm(b, 0, &fork, &err) < 0)
			dw_bench_skip(fork.row, err.text);
		if (burst_warm(b, CALLERS, &standby, &err) < 0)
			dw_bench_skip(standby.row, err.text);
	}
	if (standby.row->skipped[0] == '\0')
		add_check(standby.row, dw_samples_percentile(&standby.all, 50));
	conclude(&fork, &bare);
	conclude(&standby, &bare);
	conclude(&bare, &bare);
}
