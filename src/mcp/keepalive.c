/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "mcp/call.h"

struct dw_mcp_keepalive {
	pthread_mutex_t lock; /* protects all below; held while an entry's fn runs */
	pthread_cond_t stop;
	unsigned every_ms;
	LIST_HEAD(entries, dw_mcp_keepalive_entry) entries;
	pthread_t thread;
	bool running;
	bool stopped;
};

static void *call_entries(void *user)
{
	struct dw_mcp_keepalive *keepalive = user;
	struct dw_mcp_keepalive_entry *entry;
	struct timespec until;

	HOLD_LOCK(&keepalive->lock);
	while (!keepalive->stopped) {
		until = dw_time_in(keepalive->every_ms);
		(void)pthread_cond_timedwait(&keepalive->stop, &keepalive->lock, &until);
		entry = keepalive->stopped ? NULL : LIST_FIRST(&keepalive->entries);
		for (; entry; entry = LIST_NEXT(entry, link))
			entry->fn(entry->user);
	}
	return NULL;
}

struct dw_mcp_keepalive *dw_mcp_keepalive_create(unsigned every_ms)
{
	struct dw_mcp_keepalive *keepalive = calloc(1, sizeof(*keepalive));

	if (!keepalive)
		return NULL;
	keepalive->every_ms = every_ms;
	(void)pthread_mutex_init(&keepalive->lock, NULL);
	dw_cond_init(&keepalive->stop);
	return keepalive;
}

void dw_mcp_keepalive_free(struct dw_mcp_keepalive *keepalive)
{
	bool running;

	if (!keepalive)
		return;
	(void)pthread_mutex_lock(&keepalive->lock);
	keepalive->stopped = true;
	running = keepalive->running;
	(void)pthread_cond_signal(&keepalive->stop);
	(void)pthread_mutex_unlock(&keepalive->lock);
	if (running)
		(void)pthread_join(keepalive->thread, NULL);
	(void)pthread_cond_destroy(&keepalive->stop);
	(void)pthread_mutex_destroy(&keepalive->lock);
	free(keepalive);
}

void dw_mcp_keepalive_add(struct dw_mcp_keepalive *keepalive,
                          struct dw_mcp_keepalive_entry *entry)
{
	HOLD_LOCK(&keepalive->lock);
	LIST_INSERT_HEAD(&keepalive->entries, entry, link);
	/* If the thread cannot be created there is no keepalive, but calls still work. */
	if (!keepalive->running)
		keepalive->running = pthread_create(&keepalive->thread, NULL,
		                                    call_entries, keepalive) == 0;
}

void dw_mcp_keepalive_remove(struct dw_mcp_keepalive *keepalive,
                             struct dw_mcp_keepalive_entry *entry)
{
	HOLD_LOCK(&keepalive->lock);
	LIST_REMOVE(entry, link);
}
