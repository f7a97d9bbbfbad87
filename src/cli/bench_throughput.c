/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many runs a second two cores manage, beside bare python3 on the same two.
 *
 * Half of the bare runs come before ours and half behind, so that a host that gets
 * busier meanwhile wrongs neither. The pool is made for this, on these cores, with one
 * cell ready a core: what it has ready later it has built meanwhile.
 */
#include <math.h>
#include <sched.h>
#include <string.h>

#include "cli/bench_load.h"

#define CORES 2
#define IN_FLIGHT (CORES * 2) /* so that no core waits for us */
#define MS 6000U
#define QUICK_MS 1000U

/* Keep us, and all that we start, on two cores; *ret_before is what there was. */
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

static int load_bare(struct dw_bench *b, uint64_t ms, struct dw_bench_load *bare,
                     double *span_ms, struct dw_error *err)
{
	struct dw_bench_way way = dw_bench_bare_python;
	int r;

	way.cancel_fd = b->cancel_fd;
	bare->way = &way;
	bare->threads = IN_FLIGHT;
	bare->runs_each = UINT64_MAX;
	bare->ms = ms;
	r = dw_bench_load(b, bare, err);
	bare->way = NULL;
	*span_ms += bare->span_ms;
	return r;
}

static int load_warm(struct dw_bench *b, struct dw_bench_row *row,
                     struct dw_bench_load *warm, struct dw_error *err)
{
	struct dw_bench_way way = dw_bench_python;
	struct dw_bench_pool pool = {0};
	int r;

	if (dw_bench_pool_open(b, "python", CORES, &pool, err) < 0)
		return -1;
	way.cancel_fd = b->cancel_fd;
	way.pool = pool.pool;
	warm->way = &way;
	warm->threads = IN_FLIGHT;
	warm->runs_each = UINT64_MAX;
	dw_bench_pool_mark(&pool);
	r = dw_bench_load(b, warm, err);
	warm->way = NULL;
	dw_bench_pool_close(&pool, row);
	return r;
}

static double a_second(const struct dw_bench_load *load, double span_ms)
{
	return (double)load->samples.n / (span_ms / 1000);
}

static void conclude(struct dw_bench_row *row, struct dw_bench_load *warm,
                     const struct dw_bench_load *bare, double bare_ms)
{
	double ours = a_second(warm, warm->span_ms), theirs = a_second(bare, bare_ms);

	dw_bench_times(row, &warm->samples);
	row->failed = warm->failed;
	row->ratio_to_bare = ours / theirs;
	dw_bench_note(row, "%.0f runs/s, bare python3 %.0f runs/s, %d at a time", ours,
	              theirs, IN_FLIGHT);
	if (warm->failed > 0)
		dw_bench_note(row, "%s", warm->first.text);
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
	uint64_t ms = b->quick ? QUICK_MS : MS;
	struct dw_bench_load bare = {0}, warm = {.ms = ms};
	struct dw_error err = {0};
	double bare_ms = 0;

	dw_bench_say(b, "throughput: bare python3");
	if (load_bare(b, ms / 2, &bare, &bare_ms, &err) < 0)
		goto out;
	dw_bench_say(b, "throughput: warm cells");
	if (load_warm(b, row, &warm, &err) < 0)
		goto out;
	dw_bench_say(b, "throughput: bare python3 once more");
	if (load_bare(b, ms / 2, &bare, &bare_ms, &err) < 0)
		goto out;
	if (bare.failed > 0)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0, "%s", bare.first.text);
	else
		conclude(row, &warm, &bare, bare_ms);
out:
	if (err.code != DW_OK)
		dw_bench_skip(row, err.text);
	dw_samples_finish(&bare.samples);
	dw_samples_finish(&warm.samples);
}

void dw_bench_throughput(struct dw_bench *b)
{
	struct dw_bench_row *row;
	cpu_set_t before;
	int cores;

	if (!dw_bench_wants(b, "throughput"))
		return;
	row = dw_bench_add(b, "throughput", "sustained runs of print(1), two cores");
	cores = take_cores(&before);
	if (cores < CORES)
		dw_bench_skip(row, "there are no two cores for us here");
	else
		measure(b, row);
	if (cores > 0)
		(void)sched_setaffinity(0, sizeof(before), &before);
}
