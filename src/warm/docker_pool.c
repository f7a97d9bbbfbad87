/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/warm_own.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/id.h"

#define START_MS 120000U /* to pull the image and start a container */
#define RETRY_MS 2000U   /* after a failure of the engine */
#define BUSY_MS 1000U    /* after a run has begun, start no container for so long */
#define WAIT_MS 3600000U /* after which an unused container is replaced */
#define POLL_NS 2000000

/* A container, from its start to its removal. */
struct standby {
	struct standby *next;
	struct dw_cell *cell;
	struct dw_spec spec; /* what the container was started for */
};

struct kind {
	struct dw_request like;
	unsigned wanted;
	struct standby *waiting; /* ready, or about to be */
};

struct dw_docker_pool {
	pthread_mutex_t lock;
	uint64_t retry_at;
	uint64_t taken_at;
	unsigned running;
	struct dw_error error; /* why the last container failed */
	struct standby *taken;
	struct standby *leaving;
	struct kind *kinds;
	size_t n_kinds;
};

static void push(struct standby **list, struct standby *one)
{
	one->next = *list;
	*list = one;
}

static unsigned count(const struct standby *list)
{
	unsigned n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

static void free_one(struct standby *one)
{
	if (one)
		one->cell->level->destroy(one->cell);
	free(one);
}

/* ---- creating and freeing ---- */

int dw_docker_pool_new(const struct dw_docker_config *config, size_t n,
                       struct dw_docker_pool **ret, struct dw_error *err)
{
	struct dw_docker_pool *s = calloc(1, sizeof(*s));

	if (s)
		s->kinds = calloc(n, sizeof(*s->kinds));
	if (!s || !s->kinds) {
		free(s);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM,
		               "cannot keep containers ready");
	}
	(void)pthread_mutex_init(&s->lock, NULL);
	s->n_kinds = n;
	for (size_t i = 0; i < n; i++) {
		const struct dw_request *like = config[i].like;
		struct dw_request *req = &s->kinds[i].like;

		/* Copy only what the container depends on. */
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

static void free_list(struct standby *list)
{
	struct standby *one;

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
		/* End all before waiting for the first. */
		for (struct standby *one = s->kinds[i].waiting; one; one = one->next)
			one->cell->level->kill(one->cell);
		free_list(s->kinds[i].waiting);
	}
	free_list(s->leaving);
	(void)pthread_mutex_destroy(&s->lock);
	free(s->kinds);
	free(s);
}

/* ---- taking ---- */

/* With the lock held: take a container that is ready; drop those that have failed. */
static struct standby *take_from(struct dw_docker_pool *s, struct kind *kind,
                                 const struct dw_spec *spec)
{
	struct standby **at = &kind->waiting, *one;
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
	struct standby *one = NULL;

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
	struct standby **at, *one;

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

static struct standby *make(const struct kind *kind, struct dw_error *err)
{
	struct standby *one = calloc(1, sizeof(*one));

	if (!one) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot start a container");
		return NULL;
	}
	one->spec = (struct dw_spec){
		.req = &kind->like,
		.runtime = dw_runtime_find(kind->like.language),
		.limits = kind->like.limits,
		.deadline_ms = dw_now_ms() + START_MS,
	};
	if (dw_id_make(one->spec.id, err) < 0) {
		free(one);
		return NULL;
	}
	dw_limits_defaults(&one->spec.limits, dw_level_with(DW_G_WARM | DW_G_ENGINE));
	if (!one->spec.runtime)
		(void)dw_fail(err, DW_E_INVALID, 0, "unknown language \"%s\"",
		              kind->like.language);
	if (!one->spec.runtime ||
	    dw_docker_prepare(&one->spec, WAIT_MS, &one->cell, err) < 0) {
		free(one);
		return NULL;
	}
	return one;
}

/* With the lock held; releases it while it starts a container. */
static void fill(struct dw_docker_pool *s, struct kind *kind)
{
	struct dw_error err = {0};
	struct standby *one;

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

/* With the lock held: drop containers that failed or waited too long. */
static void drop_failed(struct dw_docker_pool *s, struct kind *kind)
{
	struct standby **at = &kind->waiting, *one;

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

/* Pick those whose dewar-docker has removed the container and exited. */
static struct standby *pick_gone(struct dw_docker_pool *s)
{
	struct standby **at = &s->leaving, *gone = NULL, *one;

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
	struct standby *gone;
	bool busy;

	pthread_mutex_lock(&s->lock);
	gone = pick_gone(s);
	busy = s->running > 0 && dw_now_ms() < s->taken_at + BUSY_MS;
	for (size_t i = 0; i < s->n_kinds; i++) {
		drop_failed(s, &s->kinds[i]);
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

		for (struct standby *one = s->kinds[i].waiting; one; one = one->next)
			ready += dw_docker_is_ready(one->cell, &err) > 0;
		if (ready < standby)
			return false;
	}
	return true;
}

int dw_docker_pool_warm_up(struct dw_docker_pool *s, unsigned standby,
                           uint64_t timeout_ms, struct dw_error *err)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
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
		(void)dw_fail(err, DW_E_BUSY, 0, "no container is ready: timed out");
	pthread_mutex_unlock(&s->lock);
	return warm ? 0 : -1;
}
