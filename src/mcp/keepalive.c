/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/keepalive.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"

struct dw_mcp_keepalive {
	pthread_mutex_t lock; /* of all below, and held while a beat is called */
	pthread_cond_t over;
	unsigned every_ms;
	struct dw_mcp_beat *first;
	pthread_t thread;
	bool running;
	bool ended;
};

static void *keep_beating(void *user)
{
	struct dw_mcp_keepalive *pulse = user;
	struct timespec until;

	(void)pthread_mutex_lock(&pulse->lock);
	while (!pulse->ended) {
		until = dw_time_in(pulse->every_ms);
		(void)pthread_cond_timedwait(&pulse->over, &pulse->lock, &until);
		for (struct dw_mcp_beat *b = pulse->first; b && !pulse->ended;
		     b = b->next)
			b->fn(b->user);
	}
	(void)pthread_mutex_unlock(&pulse->lock);
	return NULL;
}

struct dw_mcp_keepalive *dw_mcp_keepalive_create(unsigned every_ms)
{
	struct dw_mcp_keepalive *pulse = calloc(1, sizeof(*pulse));
	pthread_condattr_t attr;

	if (!pulse)
		return NULL;
	pulse->every_ms = every_ms;
	(void)pthread_mutex_init(&pulse->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&pulse->over, &attr);
	(void)pthread_condattr_destroy(&attr);
	return pulse;
}

void dw_mcp_keepalive_free(struct dw_mcp_keepalive *pulse)
{
	bool running;

	if (!pulse)
		return;
	(void)pthread_mutex_lock(&pulse->lock);
	pulse->ended = true;
	running = pulse->running;
	(void)pthread_cond_signal(&pulse->over);
	(void)pthread_mutex_unlock(&pulse->lock);
	if (running)
		(void)pthread_join(pulse->thread, NULL);
	(void)pthread_cond_destroy(&pulse->over);
	(void)pthread_mutex_destroy(&pulse->lock);
	free(pulse);
}

void dw_mcp_keepalive_add(struct dw_mcp_keepalive *pulse, struct dw_mcp_beat *beat)
{
	(void)pthread_mutex_lock(&pulse->lock);
	beat->prev = NULL;
	beat->next = pulse->first;
	if (beat->next)
		beat->next->prev = beat;
	pulse->first = beat;
	/* Without a thread there are no signs of life, and all else is as it was. */
	if (!pulse->running)
		pulse->running = pthread_create(&pulse->thread, NULL, keep_beating,
		                                pulse) == 0;
	(void)pthread_mutex_unlock(&pulse->lock);
}

void dw_mcp_keepalive_remove(struct dw_mcp_keepalive *pulse, struct dw_mcp_beat *beat)
{
	(void)pthread_mutex_lock(&pulse->lock);
	if (beat->prev)
		beat->prev->next = beat->next;
	else
		pulse->first = beat->next;
	if (beat->next)
		beat->next->prev = beat->prev;
	(void)pthread_mutex_unlock(&pulse->lock);
}
