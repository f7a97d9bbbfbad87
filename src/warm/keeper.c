/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: the pool's thread, which does the work that no run should wait for. It
 * holds the lock only briefly; see pool.c.
 */
#include "warm/warm_own.h"

#include <signal.h>
#include <stdio.h>

#include "base/clock.h"

#define MB (1ULL << 20)
#define CELL_BYTES_GUESS (3 * MB) /* until a cell has been measured */
#define RETRY_MS 1000U            /* times the failures: pause before the next try */
#define RETRIES 3                 /* failures in a row until the template is given up */
#define KEEPER_MS 200             /* pause between rounds, unless woken */
#define RUN_MS 2                  /* pause while runs go on: longer than a short run */
#define MEASURE_EVERY 16U         /* cells */

void dw_keeper_end_used(struct dw_pool *pool)
{
	struct warm_cell *w;

	for (;;) {
		pthread_mutex_lock(&pool->lock);
		w = dw_pool_cell_pop(&pool->used);
		pthread_mutex_unlock(&pool->lock);
		if (!w)
			return;
		dw_pool_cell_free_cell(w);
	}
}

static void note_failure(struct dw_pool *pool, struct template_pool *s,
                         const struct dw_error *err)
{
	pthread_mutex_lock(&pool->lock);
	s->failures++;
	s->retry_at = dw_now_ms() + RETRY_MS * s->failures;
	/* A retry does not help if the host lacks something. */
	if (s->failures >= RETRIES || err->code == DW_E_UNSUPPORTED)
		(void)snprintf(s->stats.why, sizeof(s->stats.why), "%s", err->text);
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

void dw_keeper_drop_empty(struct dw_pool *pool, struct template_pool *s)
{
	while (s->empty.n > 0)
		dw_pool_cell_push(&pool->used, dw_pool_cell_pop(&s->empty));
}

static bool may_try(const struct template_pool *s)
{
	return s->in_use && s->stats.why[0] == '\0' &&
	       (s->failures == 0 || dw_now_ms() >= s->retry_at);
}

/* The old zygote stays in use until the new one is ready. */
static void replace_zygote(struct dw_pool *pool, struct template_pool *s)
{
	struct dw_error err = {0};
	struct dw_zygote *fresh = dw_zygote_start(&s->template, &err), *old;

	if (!fresh) {
		note_failure(pool, s, &err);
		return;
	}
	pthread_mutex_lock(&s->zygote_lock);
	old = s->zygote;
	s->zygote = fresh;
	pthread_mutex_unlock(&s->zygote_lock);
	dw_zygote_unref(old);

	pthread_mutex_lock(&pool->lock);
	dw_keeper_drop_empty(pool, s);
	s->failures = 0;
	s->stats.zygotes++;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

static bool keep_zygote(struct dw_pool *pool, struct template_pool *s)
{
	bool wanting;

	if (s->template.warm->warmth != DW_WARMTH_FORK)
		return true;
	pthread_mutex_lock(&s->zygote_lock);
	wanting = !s->zygote || !dw_zygote_runs(s->zygote) ||
	          dw_zygote_is_spent(s->zygote);
	pthread_mutex_unlock(&s->zygote_lock);
	if (wanting && may_try(s))
		replace_zygote(pool, s);
	return s->zygote != NULL;
}

static uint64_t cell_bytes(const struct template_pool *s)
{
	return s->stats.standby_bytes ? s->stats.standby_bytes : CELL_BYTES_GUESS;
}

/* Returns true if the template should have one more ready cell, and memory allows it. */
static bool wants_more(struct dw_pool *pool, struct template_pool *s)
{
	uint64_t used = 0;
	bool more, full;

	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < pool->n_templates; i++)
		used += pool->templates[i].ready.n * cell_bytes(&pool->templates[i]);
	if (s->wanted > pool->standby_max)
		s->wanted = pool->standby_max;
	full = used + cell_bytes(s) > pool->memory;
	more = s->in_use && s->ready.n < s->wanted && !pool->stopping && !full;
	if (full && s->ready.n < s->wanted)
		s->wanted = s->ready.n;
	if (full)
		pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	return more;
}

/* The spec for a cell that is built before a request comes. */
static struct dw_spec plain_spec(const struct template_pool *s)
{
	struct dw_spec spec = {.req = &s->req, .runtime = s->template.runtime};

	dw_limits_defaults(&spec.limits, dw_warm_level());
	return spec;
}

static struct warm_cell *make_ready(struct dw_pool *pool, struct template_pool *s,
                                    struct dw_error *err)
{
	struct dw_spec spec = plain_spec(s);

	if (s->template.warm->warmth != DW_WARMTH_FORK)
		return dw_pool_cell_start(pool, s, &spec, err);
	return dw_pool_cell_fork_into(s, dw_pool_cell_build(pool, s, &spec, true, err),
	                              true, err);
}

/* Add a new cell, or note that it failed. */
static bool add_cell(struct dw_pool *pool, struct template_pool *s,
                     struct cell_stack *stack, struct warm_cell *w,
                     const struct dw_error *err)
{
	uint64_t bytes = 0;

	if (!w) {
		note_failure(pool, s, err);
		return false;
	}
	/* The more cells share pages, the less each costs: measure again now and then. */
	if (stack == &s->ready && s->made++ % MEASURE_EVERY == 0)
		bytes = dw_pss_of_cell(w->cell, DW_PSS_CELL);
	pthread_mutex_lock(&pool->lock);
	if (bytes > 0)
		s->stats.standby_bytes = bytes;
	s->failures = 0;
	dw_pool_cell_push(stack, w);
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	return true;
}

/* Add a ready cell. Returns false if none is needed or possible. */
static bool fill_ready(struct dw_pool *pool, struct template_pool *s)
{
	struct dw_error err = {0};

	if (pool->fork_only || !may_try(s) || !wants_more(pool, s))
		return false;
	return add_cell(pool, s, &s->ready, make_ready(pool, s, &err), &err);
}

/* Add an empty cell. */
static bool fill_empty(struct dw_pool *pool, struct template_pool *s)
{
	struct dw_spec spec = plain_spec(s);
	struct dw_error err = {0};
	bool enough;

	if (s->template.warm->warmth != DW_WARMTH_FORK || !may_try(s))
		return false;
	pthread_mutex_lock(&pool->lock);
	enough = s->empty.n >= DW_POOL_EMPTY_CELLS;
	pthread_mutex_unlock(&pool->lock);
	if (enough)
		return false;
	return add_cell(pool, s, &s->empty,
	                dw_pool_cell_build(pool, s, &spec, true, &err), &err);
}

/* Each idle_ms, drop half of an idle template's cells; with the last, its zygote. */
static void drop_idle(struct dw_pool *pool, struct template_pool *s)
{
	bool idle;

	pthread_mutex_lock(&pool->lock);
	idle = s->in_use && s->least == 0 && dw_now_ms() > s->used_at + pool->idle_ms;
	if (idle) {
		s->wanted /= 2;
		s->used_at = dw_now_ms();
		s->in_use = s->wanted > 0;
	}
	while (s->ready.n > s->wanted)
		dw_pool_cell_push(&pool->used, dw_pool_cell_pop(&s->ready));
	idle = idle && !s->in_use;
	if (idle)
		dw_keeper_drop_empty(pool, s);
	pthread_mutex_unlock(&pool->lock);
	if (!idle)
		return;
	pthread_mutex_lock(&s->zygote_lock);
	dw_zygote_unref(s->zygote);
	s->zygote = NULL;
	pthread_mutex_unlock(&s->zygote_lock);
}

/* One round. Returns true if there is more to do at once. */
static bool keep(struct dw_pool *pool)
{
	bool more = false;

	dw_keeper_end_used(pool);
	if (pool->docker)
		dw_docker_pool_keep(pool->docker);
	for (size_t i = 0; i < pool->n_templates; i++) {
		struct template_pool *s = &pool->templates[i];

		if (keep_zygote(pool, s))
			more = fill_ready(pool, s) || fill_empty(pool, s) || more;
		drop_idle(pool, s);
	}
	return more;
}

/* With the lock held: sleep until the time is over or there is work. */
static void rest(struct dw_pool *pool, uint64_t ms)
{
	struct timespec until = dw_time_in(ms);

	(void)pthread_cond_timedwait(&pool->work, &pool->lock, &until);
}

static void *run_keeper(void *arg)
{
	struct dw_pool *pool = arg;
	bool more;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stopping) {
		/* Most runs are short, and are faster while the keeper sleeps. */
		if (pool->running > 0)
			rest(pool, RUN_MS);
		pthread_mutex_unlock(&pool->lock);
		more = keep(pool);
		pthread_mutex_lock(&pool->lock);
		if (!more && !pool->stopping && pool->used.n == 0)
			rest(pool, KEEPER_MS);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* The keeper blocks all signals: they are for the application's own threads. */
int dw_keeper_start(struct dw_pool *pool, struct dw_error *err)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&pool->keeper, NULL, run_keeper, pool);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0)
		return dw_fail(err, DW_E_INTERNAL, r, "cannot start the pool's thread");
	return 0;
}
