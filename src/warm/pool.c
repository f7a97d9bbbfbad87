/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: each template has a zygote and cells that wait.
 *
 * Theory of operation
 *
 * A run takes a ready cell if there is one of the right shape; else it lets the zygote
 * fork into an empty cell, or into one built for the request; if there is no zygote, or
 * it fails, the run is cold. A run never waits for another run.
 *
 * One thread, the keeper (keeper.c), does the rest: it starts zygotes and replaces those
 * that died or have forked too often, keeps cells ready, drops idle cells, and destroys
 * used ones. The keeper works without the lock, which is held only to put a cell on a
 * stack or take it off.
 */
#include "warm/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lock.h"
#include "warm/warm_own.h"

#define MB (1ULL << 20)
#define DEFAULT_MEMORY (512 * MB)
#define DEFAULT_IDLE_MS 60000U
#define STANDBY_MAX 2048U

/* ---- taking ---- */

/* Find the template by its name; else the first of the language with the right image. */
static struct template_pool *find_template(struct dw_pool *pool,
                                           const struct dw_spec *spec)
{
	const char *name = spec->req->template;

	for (size_t i = 0; i < pool->n_templates; i++) {
		const struct dw_template *t = &pool->templates[i].template;

		if (name ? strcmp(t->name, name) == 0
		         : t->runtime == spec->runtime &&
		                    dw_template_has_image(t, spec->req))
			return &pool->templates[i];
	}
	return NULL;
}

/* Take a cell from the ready or the empty ones. */
static struct warm_cell *take_from(struct dw_pool *pool, struct template_pool *s,
                                   struct cell_stack *stack)
{
	struct warm_cell *w;

	pthread_mutex_lock(&pool->lock);
	s->in_use = true;
	s->used_at = dw_now_ms();
	w = dw_pool_cell_pop(stack);
	if (!w && stack == &s->ready && !pool->fork_only)
		s->wanted = s->wanted * 2 + 1; /* the keeper applies the ceilings */
	/* dw_pool_go() wakes the keeper to refill, once the run has started. */
	pool->is_low = pool->is_low || !w || stack->n * 2 < s->wanted;
	pthread_mutex_unlock(&pool->lock);
	return w;
}

static void hand_back(struct dw_pool *pool, struct warm_cell *w)
{
	pthread_mutex_lock(&pool->lock);
	dw_pool_cell_push(&pool->used, w);
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

static bool is_alive(struct warm_cell *w)
{
	dw_warm_serve(w->cell);
	return w->cell->state != DW_CELL_GONE;
}

static struct warm_cell *take_ready(struct dw_pool *pool, struct template_pool *s)
{
	struct warm_cell *w;

	while ((w = take_from(pool, s, &s->ready)) != NULL) {
		if (is_alive(w))
			return w;
		hand_back(pool, w);
	}
	return NULL;
}

/* Fork into an empty cell if the request has the plain shape; else into a new one. */
static struct warm_cell *take_forked(struct dw_pool *pool, struct template_pool *s,
                                     const struct dw_spec *spec, bool plain)
{
	struct dw_error why = {0};
	struct warm_cell *w;

	while (plain && (w = take_from(pool, s, &s->empty)) != NULL) {
		w = dw_pool_cell_fork_into(s, w, false, &why);
		if (w)
			return w;
	}
	return dw_pool_cell_fork_into(s, dw_pool_cell_build(pool, s, spec, plain, &why),
	                              false, &why);
}

static struct dw_cell *take_from_template(struct dw_pool *pool,
                                          const struct dw_spec *spec)
{
	struct template_pool *s = find_template(pool, spec);
	bool plain = s && dw_template_fits_standby(&s->template, spec);
	struct warm_cell *w = NULL;
	uint64_t *counter;

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

struct dw_cell *dw_pool_take(struct dw_pool *pool, const struct dw_level *level,
                             const struct dw_spec *spec)
{
	if (!(level->guarantees & DW_G_ENGINE))
		return take_from_template(pool, spec);
	return pool->docker ? dw_docker_pool_take(pool->docker, spec) : NULL;
}

int dw_pool_go(struct dw_pool *pool, struct dw_cell *cell, const struct dw_spec *spec,
               struct dw_error *err)
{
	int r;

	if (cell->level->guarantees & DW_G_ENGINE)
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

	if (cell->level->guarantees & DW_G_ENGINE) {
		dw_docker_pool_give_back(pool->docker, cell);
		return;
	}
	dw_warm_forget(cell);
	pthread_mutex_lock(&pool->lock);
	pool->running--;
	pthread_mutex_unlock(&pool->lock);
	hand_back(pool, w);
}

/* ---- creating and freeing ---- */

static int init_template(struct template_pool *s, const struct dw_template_config *c,
                         struct dw_error *err)
{
	struct dw_template *t = &s->template;
	size_t len = 0;

	(void)pthread_mutex_init(&s->zygote_lock, NULL);
	(void)snprintf(t->name, sizeof(t->name), "%s", c->name);
	t->runtime = dw_runtime_find(c->language);
	if (!t->runtime)
		return dw_fail(err, DW_E_INVALID, 0,
		               "template %s: unknown language \"%s\"", c->name,
		               c->language);
	t->warm = dw_warm_find(t->runtime);
	if (!t->warm)
		return dw_fail(err, DW_E_INVALID, 0,
		               "template %s: %s does not support warm cells", c->name,
		               c->language);
	for (size_t i = 0; c->preload && c->preload[i] && len < sizeof(t->preload); i++)
		len += (size_t)snprintf(t->preload + len, sizeof(t->preload) - len,
		                        "%s%s", i > 0 ? "," : "", c->preload[i]);
	if (len >= sizeof(t->preload))
		return dw_fail(err, DW_E_INVALID, 0,
		               "template %s: too many modules to load", c->name);
	if (snprintf(t->image, sizeof(t->image), "%s", c->image ? c->image : "") >=
	    (int)sizeof(t->image))
		return dw_fail(err, DW_E_INVALID, ENAMETOOLONG, "template %s: its image",
		               c->name);
	t->rehearsal = c->rehearsal ? c->rehearsal : t->warm->rehearsal;
	dw_request_init(&s->req);
	s->req.image = t->image[0] ? t->image : NULL;
	s->least = s->wanted = c->standby;
	s->in_use = c->standby > 0;
	s->used_at = dw_now_ms();
	(void)snprintf(s->stats.name, sizeof(s->stats.name), "%s", t->name);
	return 0;
}

static void free_pool(struct dw_pool *pool)
{
	for (size_t i = 0; i < pool->n_templates; i++)
		(void)pthread_mutex_destroy(&pool->templates[i].zygote_lock);
	(void)pthread_cond_destroy(&pool->work);
	(void)pthread_cond_destroy(&pool->changed);
	(void)pthread_mutex_destroy(&pool->lock);
	dw_docker_pool_free(pool->docker);
	free(pool->templates);
	free(pool);
}

static struct dw_pool *new_pool(const struct dw_pool_config *config, size_t n)
{
	struct dw_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	(void)pthread_mutex_init(&pool->lock, NULL);
	dw_cond_init(&pool->work);
	dw_cond_init(&pool->changed);
	pool->memory = config->memory_bytes ? config->memory_bytes : DEFAULT_MEMORY;
	pool->standby_max = config->standby_max ? config->standby_max : STANDBY_MAX;
	pool->idle_ms = config->idle_ms ? config->idle_ms : DEFAULT_IDLE_MS;
	pool->fork_only = config->fork_only;
	pool->counts_memory = dw_limits_can_count();
	pool->templates = calloc(n, sizeof(*pool->templates));
	if (!pool->templates) {
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
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot create a pool");
	for (; pool->n_templates < n; pool->n_templates++)
		if (init_template(&pool->templates[pool->n_templates],
		                  &templates[pool->n_templates], err) < 0)
			goto fail;
	if (config->n_docker > 0 &&
	    dw_docker_pool_new(config->docker, config->n_docker, &pool->docker, err) < 0)
		goto fail;
	if (dw_fork_server_start(&pool->spawner, err) < 0)
		goto fail;
	if (dw_keeper_start(pool, err) < 0) {
		dw_fork_server_stop(&pool->spawner);
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

	for (size_t i = 0; i < pool->n_templates; i++) {
		struct template_pool *s = &pool->templates[i];

		dw_keeper_drop_empty(pool, s);
		while (s->ready.n > 0)
			dw_pool_cell_push(&pool->used, dw_pool_cell_pop(&s->ready));
		dw_zygote_unref(s->zygote);
	}
	dw_keeper_end_used(pool);
	dw_fork_server_stop(&pool->spawner);
	free_pool(pool);
}

/* ---- warming up, statistics ---- */

/* With the lock held. */
static bool is_warm(const struct dw_pool *pool, const struct template_pool *s,
                    unsigned standby)
{
	if (s->template.warm->warmth == DW_WARMTH_FORK && s->stats.zygotes == 0)
		return false;
	if (pool->fork_only)
		return s->empty.n >= DW_POOL_EMPTY_CELLS;
	return s->ready.n >= standby;
}

int dw_pool_warm_up(struct dw_pool *pool, const char *name, unsigned standby,
                    uint64_t timeout_ms, struct dw_error *err)
{
	struct timespec until = dw_time_in(timeout_ms);
	struct template_pool *s = NULL;
	int r = 0;

	if (pool->docker && strcmp(name, DW_POOL_DOCKER) == 0) {
		pthread_mutex_lock(&pool->lock);
		pthread_cond_signal(&pool->work);
		pthread_mutex_unlock(&pool->lock);
		return dw_docker_pool_warm_up(pool->docker, standby, timeout_ms, err);
	}
	for (size_t i = 0; i < pool->n_templates; i++)
		if (strcmp(pool->templates[i].template.name, name) == 0)
			s = &pool->templates[i];
	if (!s)
		return dw_fail(err, DW_E_INVALID, 0, "unknown template \"%s\"", name);
	if (pool->fork_only && s->template.warm->warmth != DW_WARMTH_FORK)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s cannot fork, and no cells are kept ready", name);

	pthread_mutex_lock(&pool->lock);
	s->in_use = true;
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
		r = dw_fail(err, DW_E_BUSY, 0, "only %u of %u cells of %s are ready: %s",
		            s->ready.n, standby, name,
		            r != 0 ? "timed out"
		                   : "the pool may not use more memory or cells");
	else
		r = 0;
	pthread_mutex_unlock(&pool->lock);
	return r;
}

size_t dw_pool_count(const struct dw_pool *pool)
{
	return pool->n_templates;
}

void dw_pool_stats(struct dw_pool *pool, size_t index, struct dw_template_stats *ret)
{
	struct template_pool *s = &pool->templates[index];
	bool runs;
	uint64_t bytes;

	pthread_mutex_lock(&s->zygote_lock);
	runs = s->zygote && dw_zygote_runs(s->zygote);
	bytes = runs ? dw_pss_of_cell(s->zygote->cell, DW_PSS_ZYGOTE) : 0;
	pthread_mutex_unlock(&s->zygote_lock);

	pthread_mutex_lock(&pool->lock);
	if (s->ready.top) /* the cell stays there while we hold the lock */
		s->stats.standby_bytes = dw_pss_of_cell(s->ready.top->cell, DW_PSS_CELL);
	*ret = s->stats;
	ret->standby = s->ready.n;
	ret->warm = runs || s->ready.n > 0;
	ret->zygote_bytes = bytes;
	pthread_mutex_unlock(&pool->lock);
}
