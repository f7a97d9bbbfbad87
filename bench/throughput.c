/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure runs per second on two cores, compared with bare python3 on the same two.
 *
 * Warm and bare runs alternate, with half of the bare runs before the warm ones and half
 * after, so that a change in the host's load affects both. Each turn has its own pool, on
 * these cores, with one cell ready per core: the pool builds all other cells during its
 * turn, not while bare commands run.
 */
#include <math.h>
#include <sched.h>
#include <string.h>

#include "bench/bench.h"

#define CORES 2
#define IN_FLIGHT (CORES * 2) /* so that no core is idle */
#define TURNS 3
#define MS 2000U /* a turn */
#define QUICK_MS 1000U

/* Pin this process and its children to two cores; *ret_before is the old mask. */
static int take_cores(cpu_set_t *ret_before)
{
	cpu_set_t two;
	int n = 0;

	if (sched_getaffinity(0, sizeof(*ret_before), ret_before) < 0)
		return 0;
	CPU_ZERO(&two);
	for (size_t i = 0; i < CPU_SETSIZE && n < CORES; i++) {
		if (!CPU_ISSET(i, ret_before))
			continue;
		CPU_SET(i, &two);
		n++;
	}
	return sched_setaffinity(0, sizeof(two), &two) < 0 ? 0 : n;
}

/* Warm or bare, summed over all turns. */
struct side {
	struct dw_bench_load load;
	double ms; /* the time that this side ran */
};

static int add_load(const struct dw_bench *b, struct side *side,
                    const struct dw_bench_workload *workload, uint64_t ms,
                    struct dw_error *err)
{
	int r;

	side->load.workload = workload;
	side->load.threads = IN_FLIGHT;
	side->load.runs_each = UINT64_MAX;
	side->load.ms = ms;
	r = dw_bench_load(b, &side->load, err);
	side->ms += side->load.span_ms;
	return r;
}

static int take_turn(struct dw_bench *b, struct dw_bench_row *row, struct side *bare,
                     struct side *warm, struct dw_error *err)
{
	struct dw_bench_workload python = dw_bench_bare_python, cell = dw_bench_python;
	uint64_t ms = b->quick ? QUICK_MS : MS;
	struct dw_bench_pool pool = {0};
	int r;

	python.cancel_fd = cell.cancel_fd = b->cancel_fd;
	if (add_load(b, bare, &python, ms / 2, err) < 0 ||
	    dw_bench_pool_open(b, "python", CORES, &pool, err) < 0)
		return -1;
	cell.pool = pool.pool;
	r = add_load(b, warm, &cell, ms, err);
	dw_bench_pool_close(&pool, row);
	return r < 0 ? r : add_load(b, bare, &python, ms / 2, err);
}

static double per_second(const struct side *side)
{
	return (double)side->load.samples.n / (side->ms / 1000);
}

static void conclude(struct dw_bench_row *row, struct side *warm, const struct side *bare)
{
	dw_bench_times(row, &warm->load.samples);
	row->failed = warm->load.failed;
	row->ratio_to_bare = per_second(warm) / per_second(bare);
	dw_bench_note(row, "%.0f runs/s, bare python3 %.0f runs/s, %d at a time",
	              per_second(warm), per_second(bare), IN_FLIGHT);
	if (warm->load.failed > 0)
		dw_bench_note(row, "%s", warm->load.first.text);
	dw_bench_check(row, &(struct dw_bench_check){
				    .what = "runs a second / bare",
				    .unit = "x",
				    .value = row->ratio_to_bare,
				    .bar = 3,
				    .aim = 8,
				    .at_least = true,
			    });
}

static void measure(struct dw_bench *b, struct dw_bench_row *row)
{
	int turns = b->quick ? 1 : TURNS;
	struct side bare = {0}, warm = {0};
	struct dw_error err = {0};
	int r = 0;

	for (int i = 0; r == 0 && i < turns && !dw_bench_stopped(b); i++) {
		dw_bench_progress(b, "throughput, turn %d of %d", i + 1, turns);
		r = take_turn(b, row, &bare, &warm, &err);
	}
	if (r == 0 && bare.load.failed > 0)
		dw_bench_skip(row, bare.load.first.text);
	else if (r == 0)
		conclude(row, &warm, &bare);
	else
		dw_bench_skip(row, err.text);
	dw_samples_finish(&bare.load.samples);
	dw_samples_finish(&warm.load.samples);
}

void dw_bench_throughput(struct dw_bench *b)
{
	struct dw_bench_row *row;
	cpu_set_t before;
	int cores;

	if (!dw_bench_is_selected(b, "throughput"))
		return;
	row = dw_bench_add(b, "throughput", "sustained runs of print(1), two cores");
	cores = take_cores(&before);
	if (cores < CORES)
		dw_bench_skip(row, "needs two cores");
	else
		measure(b, row);
	if (cores > 0)
		(void)sched_setaffinity(0, sizeof(before), &before);
}
