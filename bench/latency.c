/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure the time of one run, by method.
 *
 * Theory of operation
 *
 * Every round runs each method once, in random order, bare commands included, so that all
 * methods meet the same noise: the ratios matter. After a run in a pool we wait until the
 * pool has refilled and is idle, so that no measured time includes the building of cells.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/bench.h"

#define TRIALS 3            /* uncounted runs that warm the caches */
#define FAILURES_MAX 10     /* of a method, after which it is not tried again */
#define ALL_MS (15 * 60000) /* for all rounds */

#define DATA                                        \
	"import numpy, pandas, matplotlib.pyplot\n" \
	"print(pandas.DataFrame({'a': numpy.arange(10)})['a'].sum())"

enum kind {
	BARE,
	COMMAND, /* the dewar program */
	COLD,
	FORK,
	STANDBY,
};

struct method {
	const char *name;
	const char *title;
	const char *bare; /* the method it is compared with */
	enum kind kind;
	const char *template;
	const char *argv[8]; /* of a command; argv[0] of COMMAND is filled in */
	const char *language;
	const char *code;
	const char *expect;
	unsigned every;      /* run in every Nth round; slow methods run less often */
	const char *missing; /* the reason to print if the first run fails */
	double bar, aim;     /* p50 / bare p50; bar 0: no goal */
	double p99_bar;      /* p99 / bare p50 */
};

static const struct method methods[] = {
	{
		.name = "bare-python",
		.title = "print(1): bare python3",
		.kind = BARE,
		.argv = {"/usr/bin/python3", "-c", "print(1)"},
		.every = 1,
	},
	{
		.name = "cold-command",
		.title = "print(1): cold, by dewar run",
		.bare = "bare-python",
		.kind = COMMAND,
		.argv = {"", "run", "--level", "container", "python", "-c", "print(1)"},
		.every = 1,
	},
	{
		.name = "cold",
		.title = "print(1): cold",
		.bare = "bare-python",
		.kind = COLD,
		.language = "python",
		.code = "print(1)",
		.expect = "1\n",
		.every = 1,
	},
	{
		.name = "fork",
		.title = "print(1): warm, forked on demand",
		.bare = "bare-python",
		.kind = FORK,
		.template = "python",
		.language = "python",
		.code = "print(1)",
		.expect = "1\n",
		.every = 1,
		.bar = 1.0 / 3,
		.aim = 1.0 / 6,
		.p99_bar = 1,
	},
	{
		.name = "standby",
		.title = "print(1): warm, on standby",
		.bare = "bare-python",
		.kind = STANDBY,
		.template = "python",
		.language = "python",
		.code = "print(1)",
		.expect = "1\n",
		.every = 1,
		.bar = 1.0 / 12,
		.aim = 1.0 / 30,
		.p99_bar = 1.0 / 4,
	},
	{
		.name = "bare-data",
		.title = "numpy, pandas, pyplot: bare python3",
		.kind = BARE,
		.argv = {"/usr/bin/python3", "-c", DATA},
		.every = 10,
		.missing = "/usr/bin/python3 cannot import numpy, pandas and "
			   "matplotlib.pyplot: apt-get install python3-pandas "
			   "python3-matplotlib",
	},
	{
		.name = "data",
		.title = "numpy, pandas, pyplot: warm, on standby",
		.bare = "bare-data",
		.kind = STANDBY,
		.template = "python-data",
		.language = "python",
		.code = DATA,
		.expect = "45\n",
		.every = 2,
		.bar = 1.0 / 100,
		.aim = 1.0 / 500,
	},
	{
		.name = "bare-node",
		.title = "console.log(1): bare node",
		.kind = BARE,
		.argv = {"/usr/bin/node", "-e", "console.log(1)"},
		.every = 2,
		.missing = "/usr/bin/node does not work; apt-get install nodejs",
	},
	{
		.name = "javascript",
		.title = "console.log(1): warm, on standby",
		.bare = "bare-node",
		.kind = STANDBY,
		.template = "javascript",
		.language = "javascript",
		.code = "console.log(1)",
		.expect = "1\n",
		.every = 2,
		.bar = 1.0 / 8,
		.aim = 1.0 / 30,
	},
};

#define N_METHODS ARRAY_SIZE(methods)

struct runner {
	const struct method *method;
	struct dw_bench_row *row;
	struct dw_bench_workload workload;
	struct dw_bench_pool pool;
	const char *argv[ARRAY_SIZE(methods[0].argv) + 1];
	struct dw_samples samples;
};

/* Returns true if the method, or a method that is compared with it, is selected. */
static bool is_needed(const struct dw_bench *b, const struct method *m)
{
	if (dw_bench_is_selected(b, m->name))
		return true;
	for (size_t i = 0; i < N_METHODS; i++)
		if (methods[i].bare && strcmp(methods[i].bare, m->name) == 0 &&
		    dw_bench_is_selected(b, methods[i].name))
			return true;
	return false;
}

static int once(const struct dw_bench *b, struct runner *r, double *ret_ms,
                struct dw_error *err)
{
	if (dw_bench_run(&r->workload, ret_ms, err) < 0)
		return -1;
	return r->pool.pool ? dw_bench_pool_settle(b, &r->pool, err) : 0;
}

static void set_workload(const struct dw_bench *b, struct runner *r)
{
	const struct method *m = r->method;

	r->workload = (struct dw_bench_workload){
		.language = m->language,
		.template = m->template,
		.code = m->code,
		.expect = m->expect,
		.cancel_fd = b->cancel_fd,
	};
	if (!m->argv[0])
		return;
	memcpy(r->argv, m->argv, sizeof(m->argv));
	if (m->kind == COMMAND)
		r->argv[0] = b->dewar;
	r->workload.argv = r->argv;
}

static int try_out(const struct dw_bench *b, struct runner *r, struct dw_error *err)
{
	const struct method *m = r->method;
	const struct dw_bench_row *bare = dw_bench_find(b, m->bare);
	double ms;

	/* If the bare command lacks a package, so does the cell. */
	if (bare && bare->skipped[0] != '\0')
		return dw_fail(err, DW_E_UNSUPPORTED, 0, "%s", bare->skipped);
	set_workload(b, r);
	if ((m->kind == FORK || m->kind == STANDBY) &&
	    dw_bench_pool_open(b, m->template, m->kind == STANDBY, &r->pool, err) < 0)
		return -1;
	r->workload.pool = r->pool.pool;
	for (int i = 0; i < TRIALS; i++)
		if (once(b, r, &ms, err) < 0)
			return -1;
	if (r->pool.pool)
		dw_bench_pool_mark(&r->pool);
	return 0;
}

static size_t open_all(struct dw_bench *b, struct runner *runners)
{
	struct dw_error err;
	size_t n = 0;

	for (size_t i = 0; i < N_METHODS && !dw_bench_stopped(b); i++) {
		struct runner *r = &runners[n];

		if (!is_needed(b, &methods[i]))
			continue;
		dw_bench_progress(b, "preparing: %s", methods[i].title);
		*r = (struct runner){.method = &methods[i]};
		r->row = dw_bench_add(b, methods[i].name, methods[i].title);
		r->row->bare = methods[i].bare;
		r->row->plotted = true;
		err = (struct dw_error){0};
		n++;
		if (try_out(b, r, &err) == 0)
			continue;
		dw_bench_skip(r->row, r->method->missing ? r->method->missing : err.text);
		dw_bench_pool_close(&r->pool, NULL);
	}
	return n;
}

static void measure(const struct dw_bench *b, struct runner *r)
{
	struct dw_error err = {0};
	double ms = 0;

	if (once(b, r, &ms, &err) == 0) {
		(void)dw_samples_add(&r->samples, ms);
		return;
	}
	if (r->row->failed++ == 0 && !dw_bench_stopped(b))
		dw_bench_note(r->row, "%s", err.text);
}

static void shuffle(size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)random() % i, swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
	}
}

static void go_round(const struct dw_bench *b, struct runner *runners, size_t n,
                     uint64_t round)
{
	size_t order[N_METHODS];

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	shuffle(order, n);
	for (size_t i = 0; i < n && !dw_bench_stopped(b); i++) {
		struct runner *r = &runners[order[i]];

		if (r->row->skipped[0] == '\0' && round % r->method->every == 0 &&
		    r->row->failed < FAILURES_MAX)
			measure(b, r);
	}
}

static void conclude(const struct dw_bench *b, struct runner *r)
{
	const struct dw_bench_row *bare = dw_bench_find(b, r->method->bare);
	const struct method *m = r->method;
	struct dw_bench_row *row = r->row;

	if (row->skipped[0] != '\0')
		return;
	dw_bench_times(row, &r->samples);
	row->ratio_to_bare = bare ? row->p50_ms / bare->p50_ms : 1;
	if (m->bar > 0)
		dw_bench_check(row, &(struct dw_bench_check){
					    .what = "p50 / bare p50",
					    .unit = "x",
					    .value = row->ratio_to_bare,
					    .bar = m->bar,
					    .aim = m->aim,
				    });
	if (m->p99_bar > 0 && bare)
		dw_bench_check(row, &(struct dw_bench_check){
					    .what = "p99 / bare p50",
					    .unit = "x",
					    .value = row->p99_ms / bare->p50_ms,
					    .bar = m->p99_bar,
					    .aim = NAN,
				    });
}

void dw_bench_latency(struct dw_bench *b)
{
	struct runner runners[N_METHODS];
	uint64_t until = dw_now_ms() + ALL_MS;
	size_t n = open_all(b, runners);

	for (uint64_t i = 0; n > 0 && i < b->rounds && dw_now_ms() < until; i++) {
		if (dw_bench_stopped(b))
			break;
		dw_bench_progress(b, "round %llu of %llu", (unsigned long long)i + 1,
		                  (unsigned long long)b->rounds);
		go_round(b, runners, n, i);
	}
	for (size_t i = 0; i < n; i++) {
		dw_bench_pool_close(&runners[i].pool, runners[i].row);
		conclude(b, &runners[i]);
		dw_samples_finish(&runners[i].samples);
	}
}
