/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"

#define REPORT_EVERY 100 /* runs */
#define GATHER_US 20000  /* for all threads to reach the gate */

/* While the lock is held for writing, all threads wait. */
struct gate {
	pthread_rwlock_t lock;
	bool aborted; /* not all threads could be started: return at once */
};

struct worker {
	pthread_t thread;
	const struct dw_bench *bench;
	const struct dw_bench_load *load;
	struct gate *gate;
	bool reports; /* one thread prints the progress */
	struct dw_samples samples;
	uint64_t done, failed;
	uint64_t began_ns, ended_ns;
	struct dw_error first;
};

static void run_one(struct worker *w)
{
	struct dw_error err = {0};
	double ms = 0;

	if (dw_bench_run(w->load->workload, &ms, &err) == 0)
		(void)dw_samples_add(&w->samples, ms);
	else if (w->failed++ == 0)
		w->first = err;
	w->done++;
	if (w->reports && w->load->title && w->done % REPORT_EVERY == 0)
		dw_bench_progress(w->bench, "%s: %llu", w->load->title,
		                  (unsigned long long)w->done * w->load->threads);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t until;

	(void)pthread_rwlock_rdlock(&w->gate->lock);
	(void)pthread_rwlock_unlock(&w->gate->lock);
	if (w->gate->aborted)
		return NULL;
	w->began_ns = dw_bench_now_ns();
	until = w->began_ns + w->load->ms * 1000000U;
	while (w->done < w->load->runs_each && !dw_bench_stopped(w->bench) &&
	       (w->done == 0 || dw_bench_now_ns() < until))
		run_one(w);
	w->ended_ns = dw_bench_now_ns();
	return NULL;
}

/* Returns how many threads were started. Only the main thread receives signals. */
static unsigned start(struct worker *workers, unsigned n)
{
	sigset_t all, before;
	unsigned i = 0;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	while (i < n && pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0)
		i++;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return i;
}

static void add_up(struct dw_bench_load *load, struct worker *workers)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (unsigned i = 0; i < load->threads; i++) {
		struct worker *w = &workers[i];

		first = w->began_ns < first ? w->began_ns : first;
		last = w->ended_ns > last ? w->ended_ns : last;
		(void)dw_samples_join(&load->samples, &w->samples);
		if (load->failed == 0 && w->failed > 0)
			load->first = w->first;
		load->failed += w->failed;
		dw_samples_finish(&w->samples);
	}
	load->span_ms = (double)(last - first) / 1e6;
}

int dw_bench_load(const struct dw_bench *b, struct dw_bench_load *load,
                  struct dw_error *err)
{
	autofree struct worker *workers = calloc(load->threads, sizeof(*workers));
	struct gate gate = {.lock = PTHREAD_RWLOCK_INITIALIZER};
	unsigned started;

	if (!workers)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make %u threads",
		               load->threads);
	(void)pthread_rwlock_wrlock(&gate.lock);
	for (unsigned i = 0; i < load->threads; i++)
		workers[i] = (struct worker){.bench = b,
		                             .load = load,
		                             .gate = &gate,
		                             .reports = i == 0};
	started = start(workers, load->threads);
	gate.aborted = started < load->threads;
	(void)usleep(GATHER_US);
	(void)pthread_rwlock_unlock(&gate.lock);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(workers[i].thread, NULL);
	(void)pthread_rwlock_destroy(&gate.lock);
	if (gate.aborted)
		return dw_fail(err, DW_E_INTERNAL, EAGAIN, "start %u threads",
		               load->threads);
	add_up(load, workers);
	return 0;
}
