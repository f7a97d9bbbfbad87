/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: for each template a shelf, with a zygote and with cells that wait.
 *
 * Theory of operation
 *
 * A caller takes a cell that waits if there is one of the right shape; if not, it
 * builds one to measure and lets the zygote fork into it; if there is no zygote,
 * or it fails, the caller goes the cold way. It never waits for anything that
 * another could hold up.
 *
 * One thread, the keeper, does all the rest: it starts zygotes and replaces those
 * that died or are spent, fills shelves, lets go of what nobody has asked for in a
 * while, and ends the cells that were used. It works without the lock; the lock is
 * held to take something from a shelf or to put it there, and no longer.
 */
#include "warm/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "levels/limits.h"
#include "levels/spawner.h"
#include "warm/cell.h"
#include "warm/pss.h"
#include "warm/standing.h"

#define MB (1ULL << 20)
#define DEFAULT_MEMORY (512 * MB)
#define DEFAULT_IDLE_MS 60000U
#define CELL_BYTES_GUESS (3 * MB) /* until one could be measured */
#define STANDBY_MAX 2048U
#define RETRY_MS 1000U /* before a zygote that failed is tried again */
#define RETRIES 3      /* before the template is given up */
#define KEEPER_MS 200  /* between looks, when nobody calls */
#define RUN_MS 2       /* a short run, and some */
#define EMPTY_CELLS 4U /* that wait for a zygote to fork into them */
#define LOOK_EVERY 16U /* cells, before one is measured again */

/* A cell with what it was built from; waits on a shelf, or to be ended. */
struct warm_cell {
	struct warm_cell *next;
	struct dw_cell *cell;
	struct dw_zygote *zygote; /* that forked it, or NULL */
	struct dw_spec spec;
	struct dw_way way;
};

struct stack {
	struct warm_cell *top;
	unsigned n;
};

struct shelf {
	struct dw_template template;
	struct dw_request req; /* what a cell is built for while nobody asked for it */
	pthread_mutex_t zygote_lock; /* whoever talks to the zygote */
	struct dw_zygote *zygote;    /* or NULL */
	struct stack ready;          /* they wait for a letter */
	struct stack empty;          /* they wait for the zygote */
	unsigned wanted;             /* as many as should be ready */
	unsigned least;              /* and are, from the start */
	unsigned failures;           /* in a row */
	uint64_t retry_at;
	uint64_t used_at; /* when it was last asked */
	bool asked;       /* somebody wants it at all */
	struct dw_template_stats stats;
};

struct dw_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;    /* for the keeper */
	pthread_cond_t changed; /* for who waits until it is warm */
	pthread_t keeper;
	bool stopping;
	bool fork_only;
	bool is_low;        /* the keeper should know */
	unsigned running;   /* cells that somebody has taken */
	bool counts_memory; /* of cells, the kernel does (levels/limits.h) */
	uint64_t memory;
	unsigned standby_max;
	uint64_t idle_ms;
	struct dw_spawner spawner;
	struct stack used;
	struct shelf *shelves;
	size_t n_shelves;
	struct dw_standing *standing; /* level docker's, or NULL */
};

/* ---- cells ---- */

static void push(struct stack *stack, struct warm_cell *w)
{
	w->next = stack->top;
	stack->top = w;
	stack->n++;
}

static struct warm_cell *pop(struct stack *stack)
{
	struct warm_cell *w = stack->top;

	if (w) {
		stack->top = w->next;
		stack->n--;
	}
	return w;
}

static void free_cell(struct warm_cell *w)
{
	if (!w)
		return;
	if (w->cell)
		w->cell->level->destroy(w->cell);
	dw_zygote_unref(w->zygote);
	free(w);
}

static struct warm_cell *new_cell(struct dw_pool *pool, const struct dw_spec *spec)
{
	struct warm_cell *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->spec = *spec;
	dw_id_make(w->spec.id);
	w->spec.way = &w->way;
	w->spec.spawner = &pool->spawner;
	return w;
}

/* An empty cell, made to measure for spec, that the shelf's zygote can fork into. */
static struct warm_cell *build_cell(struct dw_pool *pool, struct shelf *s,
                                    const struct dw_spec *spec, bool plain,
                                    struct dw_error *err)
{
	struct warm_cell *w = new_cell(pool, spec);
	int r = 0;

	if (!w) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a warm cell");
		return NULL;
	}
	pthread_mutex_lock(&s->zygote_lock);
	if (s->zygote && dw_zygote_runs(s->zygote)) {
		w->zygote = dw_zygote_ref(s->zygote);
		w->way = dw_zygote_way(w->zygote, plain);
	} else {
		r = dw_fail(err, DW_E_BUSY, 0, "no zygote runs");
	}
	pthread_mutex_unlock(&s->zygote_lock);
	if (r < 0 || dw_warm_build(&w->spec, &w->cell, err) < 0) {
		free_cell(w);
		return NULL;
	}
	return w;
}

/* Takes the cell, if there is one; gives it back with a program, or nothing. */
static struct warm_cell *fork_into(struct shelf *s, struct warm_cell *w, bool ahead,
                                   struct dw_error *err)
{
	int r;

	if (!w)
		return NULL;
	pthread_mutex_lock(&s->zygote_lock);
	r = dw_zygote_fork(w->zygote, (struct dw_launched *)w->cell, ahead, err);
	pthread_mutex_unlock(&s->zygote_lock);
	if (r == 0)
		r = dw_warm_enter(w->cell, err);
	if (r == 0)
		return w;
	free_cell(w);
	return NULL;
}

static struct warm_cell *start_cell(struct dw_pool *pool, struct shelf *s,
                                    const struct dw_spec *spec, struct dw_error *err)
{
	const struct dw_warm *warm = s->template.warm;
	struct warm_cell *w = new_cell(pool, spec);

	if (!w) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a warm cell");
		return NULL;
	}
	w->way = (struct dw_way){
		.kind = DW_WAY_LETTER,
		.command = warm->command,
		.files = {{warm->runner_path, warm->runner}},
	};
	/* It would hold the program's memory (runners/node.c). */
	if (pool->counts_memory)
		w->way.files[1] = (struct dw_way_file){DW_ZYGOTE_PATH,
		                                       dw_zygote_library()};
	if (dw_warm_start(&w->spec, &w->cell, err) < 0) {
		free_cell(w);
		return NULL;
	}
	return w;
}

/* ---- taking ---- */

static struct shelf *find_shelf(struct dw_pool *pool, const struct dw_spec *spec)
{
	const char *name = spec->req->template;

	if (!name)
		name = spec->runtime->name;
	for (size_t i = 0; i < pool->n_shelves; i++)
		if (strcmp(pool->shelves[i].template.name, name) == 0)
			return &pool->shelves[i];
	return NULL;
}

/* From a shelf: a cell that is ready, or at least one that stands. */
static struct warm_cell *take_from(struct dw_pool *pool, struct shelf *s,
                                   struct stack *stack)
{
	struct warm_cell *w;

	pthread_mutex_lock(&pool->lock);
	s->asked = true;
	s->used_at = dw_now_ms();
	w = pop(stack);
	if (!w && stack == &s->ready && !pool->fork_only)
		s->wanted = s->wanted * 2 + 1; /* the keeper knows how far it may go */
	/* Filling up can wait until the run has begun, or ended if there are some left. */
	pool->is_low = pool->is_low || !w || stack->n * 2 < s->wanted;
	pthread_mutex_unlock(&pool->lock);
	return w;
}

static void hand_back(struct dw_pool *pool, struct warm_cell *w)
{
	pthread_mutex_lock(&pool->lock);
	push(&pool->used, w);
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

static bool is_alive(struct warm_cell *w)
{
	dw_warm_serve(w->cell);
	return w->cell->state != DW_CELL_GONE;
}

static struct warm_cell *take_ready(struct dw_pool *pool, struct shelf *s)
{
	struct warm_cell *w;

	while ((w = take_from(pool, s, &s->ready)) != NULL) {
		if (is_alive(w))
			return w;
		hand_back(pool, w);
	}
	return NULL;
}

/* Into a cell that stands already, if the request is of the shape it was built for. */
static struct warm_cell *take_forked(struct dw_pool *pool, struct shelf *s,
                                     const struct dw_spec *spec, bool plain)
{
	struct dw_error why = {0};
	struct warm_cell *w;

	while (plain && (w = take_from(pool, s, &s->empty)) != NULL) {
		w = fork_into(s, w, false, &why);
		if (w)
			return w;
	}
	return fork_into(s, build_cell(pool, s, spec, plain, &why), false, &why);
}

static struct dw_cell *take_container(struct dw_pool *pool, const struct dw_spec *spec)
{
	return pool->standing ? dw_standing_take(pool->standing, spec) : NULL;
}

struct dw_cell *dw_pool_take(struct dw_pool *pool, const struct dw_level *level,
                             const struct dw_spec *spec)
{
	struct shelf *s = level == &dw_level_docker ? NULL : find_shelf(pool, spec);
	bool plain = s && dw_template_fits_standby(&s->template, spec);
	struct warm_cell *w = NULL;
	uint64_t *counter;

	if (level == &dw_level_docker)
		return take_container(pool, spec);
	if (!s)
		return NULL;
	counter = &s->stats.runs_standby;
	if (plain && !pool->fork_only)
		w = take_ready(pool, s);
	if (!w && s->template.warm->warmth == DW_WARMTH_FORK &&
	    dw_template_fits(&s->template, spec)) {
		counter = &s->stats.runs_forked;
		w = take_forked(pool, s, spec, plain);
	}
	if (!w)
		counter = &s->stats.runs_cold;

	pthread_mutex_lock(&pool->lock);
	(*counter)++;
	if (!w)
		pthread_cond_signal(&pool->work);
	else
		pool->running++;
	pthread_mutex_unlock(&pool->lock);
	if (!w)
		return NULL;
	w->cell->owner = w;
	return w->cell;
}

int dw_pool_go(struct dw_pool *pool, struct dw_cell *cell, const struct dw_spec *spec,
               struct dw_error *err)
{
	int r;

	if (cell->level == &dw_level_docker)
		return dw_docker_go(cell, spec, err);
	r = dw_warm_go(cell, spec, err);
	pthread_mutex_lock(&pool->lock);
	if (pool->is_low)
		pthread_cond_signal(&pool->work);
	pool->is_low = false;
	pthread_mutex_unlock(&pool->lock);
	return r;
}

void dw_pool_give_back(struct dw_pool *pool, struct dw_cell *cell)
{
	struct warm_cell *w = cell->owner;

	if (cell->level == &dw_level_docker) {
		dw_standing_give_back(pool->standing, cell);
		return;
	}
	dw_warm_forget(cell);
	pthread_mutex_lock(&pool->lock);
	pool->running--;
	pthread_mutex_unlock(&pool->lock);
	hand_back(pool, w);
}

/* ---- keeping ---- */

static void end_used(struct dw_pool *pool)
{
	struct warm_cell *w;

	for (;;) {
		pthread_mutex_lock(&pool->lock);
		w = pop(&pool->used);
		pthread_mutex_unlock(&pool->lock);
		if (!w)
			return;
		free_cell(w);
	}
}

static void note_failure(struct dw_pool *pool, struct shelf *s,
                         const struct dw_error *err)
{
	pthread_mutex_lock(&pool->lock);
	s->failures++;
	s->retry_at = dw_now_ms() + RETRY_MS * s->failures;
	/* What this host does not have it will not have in a second either. */
	if (s->failures >= RETRIES || err->code == DW_E_UNSUPPORTED)
		(void)snprintf(s->stats.why, sizeof(s->stats.why), "%s", err->text);
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

/* With the lock held: the zygote that they were built for goes. */
static void drop_empty(struct dw_pool *pool, struct shelf *s)
{
	while (s->empty.n > 0)
		push(&pool->used, pop(&s->empty));
}

static bool may_try(const struct shelf *s)
{
	return s->asked && s->stats.why[0] == '\0' &&
	       (s->failures == 0 || dw_now_ms() >= s->retry_at);
}

/* A new zygote is started beside the old one, which goes on until it is there. */
static void replace_zygote(struct dw_pool *pool, struct shelf *s)
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
	drop_empty(pool, s);
	s->failures = 0;
	s->stats.zygotes++;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

static bool keep_zygote(struct dw_pool *pool, struct shelf *s)
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

static uint64_t cell_bytes(const struct shelf *s)
{
	return s->stats.standby_bytes ? s->stats.standby_bytes : CELL_BYTES_GUESS;
}

/* As many as are wanted, as far as memory allows. */
static bool wants_more(struct dw_pool *pool, struct shelf *s)
{
	uint64_t held = 0;
	bool more, full;

	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < pool->n_shelves; i++)
		held += pool->shelves[i].ready.n * cell_bytes(&pool->shelves[i]);
	if (s->wanted > pool->standby_max)
		s->wanted = pool->standby_max;
	full = held + cell_bytes(s) > pool->memory;
	more = s->asked && s->ready.n < s->wanted && !pool->stopping && !full;
	if (full && s->ready.n < s->wanted)
		s->wanted = s->ready.n;
	if (full)
		pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	return more;
}

/* What a cell is built for while nobody has asked for it. */
static struct dw_spec plain_spec(const struct shelf *s)
{
	struct dw_spec spec = {.req = &s->req, .runtime = s->template.runtime};

	dw_limits_defaults(&spec.limits, &dw_level_container);
	return spec;
}

static struct warm_cell *make_ready(struct dw_pool *pool, struct shelf *s,
                                    struct dw_error *err)
{
	struct dw_spec spec = plain_spec(s);

	if (s->template.warm->warmth != DW_WARMTH_FORK)
		return start_cell(pool, s, &spec, err);
	return fork_into(s, build_cell(pool, s, &spec, true, err), true, err);
}

/* Put a new cell on the shelf, or note that there is none. */
static bool add_cell(struct dw_pool *pool, struct shelf *s, struct stack *stack,
                     struct warm_cell *w, const struct dw_error *err)
{
	uint64_t bytes = 0;

	if (!w) {
		note_failure(pool, s, err);
		return false;
	}
	/* What is shared is shared by more and more of them: look again now and then. */
	if (stack == &s->ready && stack->n % LOOK_EVERY == 0)
		bytes = dw_pss_of_cell(w->cell, DW_PSS_CELL);
	pthread_mutex_lock(&pool->lock);
	if (bytes > 0)
		s->stats.standby_bytes = bytes;
	s->failures = 0;
	push(stack, w);
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	return true;
}

/* One more cell that is ready; false if there is no need, or no way. */
static bool fill_ready(struct dw_pool *pool, struct shelf *s)
{
	struct dw_error err = {0};

	if (pool->fork_only || !may_try(s) || !wants_more(pool, s))
		return false;
	return add_cell(pool, s, &s->ready, make_ready(pool, s, &err), &err);
}

/* One more that stands empty. */
static bool fill_empty(struct dw_pool *pool, struct shelf *s)
{
	struct dw_spec spec = plain_spec(s);
	struct dw_error err = {0};

	if (s->template.warm->warmth != DW_WARMTH_FORK || !may_try(s) ||
	    s->empty.n >= EMPTY_CELLS)
		return false;
	return add_cell(pool, s, &s->empty, build_cell(pool, s, &spec, true, &err), &err);
}

/* Nobody has asked for a while: half of what waits may go, and half again. */
static void let_go(struct dw_pool *pool, struct shelf *s)
{
	bool idle;

	pthread_mutex_lock(&pool->lock);
	idle = s->asked && s->least == 0 && dw_now_ms() > s->used_at + pool->idle_ms;
	if (idle) {
		s->wanted /= 2;
		s->used_at = dw_now_ms();
		s->asked = s->wanted > 0;
	}
	while (s->ready.n > s->wanted)
		push(&pool->used, pop(&s->ready));
	idle = idle && !s->asked;
	if (idle)
		drop_empty(pool, s);
	pthread_mutex_unlock(&pool->lock);
	if (!idle)
		return;
	pthread_mutex_lock(&s->zygote_lock);
	dw_zygote_unref(s->zygote);
	s->zygote = NULL;
	pthread_mutex_unlock(&s->zygote_lock);
}

/* One round; true if there is more to do right away. */
static bool keep(struct dw_pool *pool)
{
	bool more = false;

	end_used(pool);
	if (pool->standing)
		dw_standing_keep(pool->standing);
	for (size_t i = 0; i < pool->n_shelves; i++) {
		struct shelf *s = &pool->shelves[i];

		if (keep_zygote(pool, s))
			more = fill_ready(pool, s) || fill_empty(pool, s) || more;
		let_go(pool, s);
	}
	return more;
}

static void add_ms(struct timespec *ts, uint64_t ms)
{
	ts->tv_sec += (time_t)(ms / 1000);
	ts->tv_nsec += (long)(ms % 1000) * 1000000L;
	ts->tv_sec += ts->tv_nsec / 1000000000L;
	ts->tv_nsec %= 1000000000L;
}

/* With the lock held; until somebody has work for the keeper. */
static void rest(struct dw_pool *pool, uint64_t ms)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	add_ms(&until, ms);
	(void)pthread_cond_timedwait(&pool->work, &pool->lock, &until);
}

static void *run_keeper(void *arg)
{
	struct dw_pool *pool = arg;
	bool more;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stopping) {
		/* Most runs are short, and go better with nobody else at work. */
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

/* ---- its life ---- */

static int fill_shelf(struct shelf *s, const struct dw_template_config *c,
                      struct dw_error *err)
{
	struct dw_template *t = &s->template;
	size_t len = 0;

	(void)pthread_mutex_init(&s->zygote_lock, NULL);
	(void)snprintf(t->name, sizeof(t->name), "%s", c->name);
	t->runtime = dw_runtime_find(c->language);
	if (!t->runtime)
		return dw_fail(err, DW_E_INVALID, 0,
		               "template %s: there is no language \"%s\"", c->name,
		               c->language);
	t->warm = dw_warm_find(t->runtime);
	if (!t->warm)
		return dw_fail(err, DW_E_INVALID, 0,
		               "template %s: %s cannot be kept warm", c->name,
		               c->language);
	for (size_t i = 0; c->preload && c->preload[i]; i++)
		len += (size_t)snprintf(t->preload + len, sizeof(t->preload) - len,
		                        "%s%s", i > 0 ? "," : "", c->preload[i]);
	if (len >= sizeof(t->preload))
		return dw_fail(err, DW_E_INVALID, 0,
		               "template %s: too many modules to load", c->name);
	t->rehearsal = c->rehearsal ? c->rehearsal : t->warm->rehearsal;
	dw_request_init(&s->req);
	s->least = s->wanted = c->standby;
	s->asked = c->standby > 0;
	s->used_at = dw_now_ms();
	(void)snprintf(s->stats.name, sizeof(s->stats.name), "%s", t->name);
	return 0;
}

/* Signals are for the caller's own threads. */
static int start_keeper(struct dw_pool *pool, struct dw_error *err)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&pool->keeper, NULL, run_keeper, pool);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0)
		return dw_fail(err, DW_E_INTERNAL, r, "start the pool's thread");
	return 0;
}

static void free_pool(struct dw_pool *pool)
{
	for (size_t i = 0; i < pool->n_shelves; i++)
		(void)pthread_mutex_destroy(&pool->shelves[i].zygote_lock);
	(void)pthread_cond_destroy(&pool->work);
	(void)pthread_cond_destroy(&pool->changed);
	(void)pthread_mutex_destroy(&pool->lock);
	dw_standing_free(pool->standing);
	free(pool->shelves);
	free(pool);
}

static struct dw_pool *new_pool(const struct dw_pool_config *config, size_t n)
{
	struct dw_pool *pool = calloc(1, sizeof(*pool));
	pthread_condattr_t attr;

	if (!pool)
		return NULL;
	(void)pthread_mutex_init(&pool->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&pool->work, &attr);
	(void)pthread_cond_init(&pool->changed, &attr);
	(void)pthread_condattr_destroy(&attr);
	pool->memory = config->memory_bytes ? config->memory_bytes : DEFAULT_MEMORY;
	pool->standby_max = config->standby_max ? config->standby_max : STANDBY_MAX;
	pool->idle_ms = config->idle_ms ? config->idle_ms : DEFAULT_IDLE_MS;
	pool->fork_only = config->fork_only;
	pool->counts_memory = dw_limits_can_count();
	pool->shelves = calloc(n, sizeof(*pool->shelves));
	if (!pool->shelves) {
		free_pool(pool);
		return NULL;
	}
	return pool;
}

int dw_pool_new(const struct dw_pool_config *config, struct dw_pool **ret_pool,
                struct dw_error *err)
{
	static const struct dw_pool_config plain;
	const struct dw_template_config *templates;
	struct dw_error why = {0};
	struct dw_pool *pool;
	size_t n;

	if (!config)
		config = &plain;
	if (!err)
		err = &why;
	templates = config->templates;
	n = config->n_templates;
	if (!templates)
		templates = dw_pool_templates(&n);
	pool = new_pool(config, n);
	if (!pool)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a pool");
	for (; pool->n_shelves < n; pool->n_shelves++)
		if (fill_shelf(&pool->shelves[pool->n_shelves],
		               &templates[pool->n_shelves], err) < 0)
			goto fail;
	if (config->n_docker > 0 &&
	    dw_standing_new(config->docker, config->n_docker, &pool->standing, err) < 0)
		goto fail;
	if (dw_spawner_start(&pool->spawner, err) < 0)
		goto fail;
	if (start_keeper(pool, err) < 0) {
		dw_spawner_stop(&pool->spawner);
		goto fail;
	}
	*ret_pool = pool;
	return 0;
fail:
	free_pool(pool);
	return -1;
}

void dw_pool_free(struct dw_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stopping = true;
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	(void)pthread_join(pool->keeper, NULL);

	for (size_t i = 0; i < pool->n_shelves; i++) {
		struct shelf *s = &pool->shelves[i];

		drop_empty(pool, s);
		while (s->ready.n > 0)
			push(&pool->used, pop(&s->ready));
		dw_zygote_unref(s->zygote);
	}
	end_used(pool);
	dw_spawner_stop(&pool->spawner);
	free_pool(pool);
}

/* ---- asking ---- */

/* With the lock held. */
static bool is_warm(const struct dw_pool *pool, const struct shelf *s, unsigned standby)
{
	if (s->template.warm->warmth == DW_WARMTH_FORK && s->stats.zygotes == 0)
		return false;
	if (pool->fork_only)
		return s->empty.n >= EMPTY_CELLS;
	return s->ready.n >= standby;
}

int dw_pool_warm_up(struct dw_pool *pool, const char *name, unsigned standby,
                    uint64_t timeout_ms, struct dw_error *err)
{
	struct timespec until;
	struct shelf *s = NULL;
	int r = 0;

	if (pool->standing && strcmp(name, DW_POOL_DOCKER) == 0) {
		pthread_mutex_lock(&pool->lock);
		pthread_cond_signal(&pool->work);
		pthread_mutex_unlock(&pool->lock);
		return dw_standing_warm_up(pool->standing, standby, timeout_ms, err);
	}
	for (size_t i = 0; i < pool->n_shelves; i++)
		if (strcmp(pool->shelves[i].template.name, name) == 0)
			s = &pool->shelves[i];
	if (!s)
		return dw_fail(err, DW_E_INVALID, 0, "there is no template \"%s\"", name);
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	add_ms(&until, timeout_ms);

	pthread_mutex_lock(&pool->lock);
	s->asked = true;
	s->used_at = dw_now_ms();
	if (s->wanted < standby)
		s->wanted = standby;
	if (s->least < standby)
		s->least = standby;
	pthread_cond_signal(&pool->work);
	while (r == 0 && s->stats.why[0] == '\0' && !is_warm(pool, s, standby) &&
	       s->wanted >= standby)
		r = pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
	if (s->stats.why[0] != '\0')
		r = dw_fail(err, DW_E_UNSUPPORTED, 0, "%s", s->stats.why);
	else if (!is_warm(pool, s, standby))
		r = dw_fail(err, DW_E_BUSY, 0, "%u of %u cells of %s are ready: %s",
		            s->ready.n, standby, name,
		            r != 0 ? "it takes too long"
		                   : "the pool may not use more memory, or cells");
	else
		r = 0;
	pthread_mutex_unlock(&pool->lock);
	return r;
}

size_t dw_pool_count(const struct dw_pool *pool)
{
	return pool->n_shelves;
}

void dw_pool_stats(struct dw_pool *pool, size_t index, struct dw_template_stats *ret)
{
	struct shelf *s = &pool->shelves[index];
	bool runs;
	uint64_t bytes;

	pthread_mutex_lock(&s->zygote_lock);
	runs = s->zygote && dw_zygote_runs(s->zygote);
	bytes = runs ? dw_pss_of_cell(s->zygote->cell, DW_PSS_ZYGOTE) : 0;
	pthread_mutex_unlock(&s->zygote_lock);

	pthread_mutex_lock(&pool->lock);
	if (s->ready.top) /* nobody takes it while we look */
		s->stats.standby_bytes = dw_pss_of_cell(s->ready.top->cell, DW_PSS_CELL);
	*ret = s->stats;
	ret->standby = s->ready.n;
	ret->warm = runs || s->ready.n > 0;
	ret->zygote_bytes = bytes;
	pthread_mutex_unlock(&pool->lock);
}
