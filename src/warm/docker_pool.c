/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/docker_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/id.h"
#include "levels/limits.h"

#define MAKE_MS 120000U  /* for a container to stand, with its image pulled */
#define RETRY_MS 2000U   /* before an engine that failed is asked again */
#define BUSY_MS 1000U    /* a run has the host to itself for so long */
#define WAIT_MS 3600000U /* until one that nobody took is made anew */
#define LOOK_NS 2000000

/* One container, from its making to its end. */
struct standing {
	struct standing *next;
	struct dw_cell *cell;
	struct dw_spec spec; /* what it was made for */
};

struct kind {
	struct dw_request like;
	unsigned wanted;
	struct standing *waiting; /* ready, or about to be */
};

struct dw_docker_pool {
	pthread_mutex_t lock;
	uint64_t retry_at;
	uint64_t taken_at;
	unsigned running;
	struct dw_error error; /* why the last one failed */
	struct standing *taken;
	struct standing *leaving;
	struct kind *kinds;
	size_t n_kinds;
};

static void push(struct standing **list, struct standing *one)
{
	one->next = *list;
	*list = one;
}

static unsigned count(const struct standing *list)
{
	unsigned n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

static void free_one(struct standing *one)
{
	if (one)
		dw_level_docker.destroy(one->cell);
	free(one);
}

/* ---- its life ---- */

int dw_docker_pool_new(const struct dw_docker_config *config, size_t n,
                       struct dw_docker_pool **ret, struct dw_error *err)
{
	struct dw_docker_pool *s = calloc(1, sizeof(*s));

	if (s)
		s->kinds = calloc(n, sizeof(*s->kinds));
	if (!s || !s->kinds) {
		free(s);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "keep containers ready");
	}
	(void)pthread_mutex_init(&s->lock, NULL);
	s->n_kinds = n;
	for (size_t i = 0; i < n; i++) {
		const struct dw_request *like = config[i].like;
		struct dw_request *req = &s->kinds[i].like;

		/* What else a request says is not known before it comes. */
		dw_request_init(req);
		req->language = like->command ? "sh" : like->language;
		req->image = like->image;
		req->runtime = like->runtime;
		req->pull = like->pull;
		req->network = like->network;
		req->limits = like->limits;
		s->kinds[i].wanted = config[i].standby;
	}
	*ret = s;
	return 0;
}

static void free_list(struct standing *list)
{
	struct standing *one;

	while ((one = list)) {
		list = one->next;
		free_one(one);
	}
}

void dw_docker_pool_free(struct dw_docker_pool *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_kinds; i++) {
		/* All are told before the first is waited for. */
		for (struct standing *one = s->kinds[i].waiting; one; one = one->next)
			dw_level_docker.kill(one->cell);
		free_list(s->kinds[i].waiting);
	}
	free_list(s->leaving);
	(void)pthread_mutex_destroy(&s->lock);
	free(s->kinds);
	free(s);
}

/* ---- taking ---- */

/* With the lock held: out of the list, if it is ready; buried, if it never will be. */
static struct standing *take_from(struct dw_docker_pool *s, struct kind *kind,
                                  const struct dw_spec *spec)
{
	struct standing **at = &kind->waiting, *one;
	struct dw_error err = {0};

	while ((one = *at)) {
		int ready = dw_docker_fits(one->cell, spec)
		                    ? dw_docker_is_ready(one->cell, &err)
		                    : 0;

		if (ready == 0) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		if (ready > 0)
			return one;
		s->error = err;
		push(&s->leaving, one);
	}
	return NULL;
}

struct dw_cell *dw_docker_pool_take(struct dw_docker_pool *s, const struct dw_spec *spec)
{
	struct standing *one = NULL;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n_kinds && !one; i++)
		one = take_from(s, &s->kinds[i], spec);
	if (one) {
		push(&s->taken, one);
		s->running++;
		s->taken_at = dw_now_ms();
	}
	pthread_mutex_unlock(&s->lock);
	return one ? one->cell : NULL;
}

void dw_docker_pool_give_back(struct dw_docker_pool *s, struct dw_cell *cell)
{
	struct standing **at, *one;

	pthread_mutex_lock(&s->lock);
	for (at = &s->taken; (one = *at) && one->cell != cell; at = &one->next)
		;
	if (one) {
		*at = one->next;
		s->running--;
		push(&s->leaving, one);
	}
	pthread_mutex_unlock(&s->lock);
}

/* ---- keeping ---- */

static struct standing *make(const struct kind *kind, struct dw_error *err)
{
	struct standing *one = calloc(1, sizeof(*one));

	if (!one) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a container");
		return NULL;
	}
	one->spec = (struct dw_spec){
		.req = &kind->like,
		.runtime = dw_runtime_find(kind->like.language),
		.limits = kind->like.limits,
		.deadline_ms = dw_now_ms() + MAKE_MS,
	};
	if (dw_id_make(one->spec.id, err) < 0) {
		free(one);
		return NULL;
	}
	dw_limits_defaults(&one->spec.limits, &dw_level_docker);
	if (!one->spec.runtime)
		(void)dw_fail(err, DW_E_INVALID, 0, "there is no language \"%s\"",
		              kind->like.language);
	if (!one->spec.runtime ||
	    dw_docker_prepare(&one->spec, WAIT_MS, &one->cell, err) < 0) {
		free(one);
		return NULL;
	}
	return one;
}

/* With the lock held, which is let go of while something is made. */
static void fill(struct dw_docker_pool *s, struct kind *kind)
{
	struct dw_error err = {0};
	struct standing *one;

	while (count(kind->waiting) < kind->wanted && dw_now_ms() >= s->retry_at) {
		pthread_mutex_unlock(&s->lock);
		one = make(kind, &err);
		pthread_mutex_lock(&s->lock);
		if (one) {
			push(&kind->waiting, one);
		} else {
			s->error = err;
			s->retry_at = dw_now_ms() + RETRY_MS;
		}
	}
}

/* With the lock held: what will never be ready, or idled too long, goes. */
static void weed(struct dw_docker_pool *s, struct kind *kind)
{
	struct standing **at = &kind->waiting, *one;

	while ((one = *at)) {
		if (dw_docker_is_ready(one->cell, &s->error) >= 0) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		push(&s->leaving, one);
		s->retry_at = dw_now_ms() + RETRY_MS;
	}
}

/* Those whose process is gone, with the container. */
static struct standing *pick_gone(struct dw_docker_pool *s)
{
	struct standing **at = &s->leaving, *gone = NULL, *one;

	while ((one = *at)) {
		if (!dw_docker_is_gone(one->cell)) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		push(&gone, one);
	}
	return gone;
}

void dw_docker_pool_keep(struct dw_docker_pool *s)
{
	struct standing *gone;
	bool busy;

	pthread_mutex_lock(&s->lock);
	gone = pick_gone(s);
	busy = s->running > 0 && dw_now_ms() < s->taken_at + BUSY_MS;
	for (size_t i = 0; i < s->n_kinds; i++) {
		weed(s, &s->kinds[i]);
		if (!busy)
			fill(s, &s->kinds[i]);
	}
	pthread_mutex_unlock(&s->lock);
	free_list(gone);
}

static bool is_warm(struct dw_docker_pool *s, unsigned standby)
{
	struct dw_error err = {0};

	for (size_t i = 0; i < s->n_kinds; i++) {
		unsigned ready = 0;

		for (struct standing *one = s->kinds[i].waiting; one; one = one->next)
			ready += dw_docker_is_ready(one->cell, &err) > 0;
		if (ready < standby)
			return false;
	}
	return true;
}

int dw_docker_pool_warm_up(struct dw_docker_pool *s, unsigned standby,
                           uint64_t timeout_ms, struct dw_error *err)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	uint64_t until = dw_now_ms() + timeout_ms;
	bool warm = false;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n_kinds; i++)
		if (s->kinds[i].wanted < standby)
			s->kinds[i].wanted = standby;
	s->error = (struct dw_error){0};
	while (!(warm = is_warm(s, standby)) && s->error.code == DW_OK &&
	       dw_now_ms() < until) {
		pthread_mutex_unlock(&s->lock);
		(void)nanosleep(&pause, NULL);
		pthread_mutex_lock(&s->lock);
	}
	if (!warm && s->error.code != DW_OK)
		*err = s->error;
	else if (!warm)
		(void)dw_fail(err, DW_E_BUSY, 0,
		              "no container is ready: it takes too long");
	pthread_mutex_unlock(&s->lock);
	return warm ? 0 : -1;
}
