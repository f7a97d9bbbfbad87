/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/lock.h"
#include "mcp/mcp_own.h"

#define SESSIONS_MAX 1024
#define IDLE_MS (24U * 3600 * 1000)

struct session {
	struct session *next; /* most recently used first */
	char id[DW_ID_MAX];
	struct dw_mcp_peer *peer;
	uint64_t used_ms;
};

struct dw_mcp_sessions {
	pthread_mutex_t lock;
	struct session *first;
};

struct dw_mcp_sessions *dw_mcp_sessions_create(void)
{
	struct dw_mcp_sessions *sessions = calloc(1, sizeof(*sessions));

	if (sessions)
		(void)pthread_mutex_init(&sessions->lock, NULL);
	return sessions;
}

/* The caller must not hold the lock, since a cancelled call may send messages. */
static void drop(struct session *list)
{
	struct session *next;

	for (; list; list = next) {
		next = list->next;
		dw_mcp_peer_close(list->peer);
		free(list);
	}
}

void dw_mcp_sessions_free(struct dw_mcp_sessions *sessions)
{
	if (!sessions)
		return;
	drop(sessions->first);
	(void)pthread_mutex_destroy(&sessions->lock);
	free(sessions);
}

/*
 * The caller holds the lock. Removes the idle sessions and those above the maximum from
 * the list, and returns them.
 */
static struct session *expire(struct dw_mcp_sessions *sessions, uint64_t now_ms)
{
	struct session **at = &sessions->first, *rest;
	size_t n = 0;

	while (*at && n < SESSIONS_MAX && now_ms - (*at)->used_ms < IDLE_MS) {
		at = &(*at)->next;
		n++;
	}
	rest = *at;
	*at = NULL;
	return rest;
}

int dw_mcp_sessions_add(struct dw_mcp_sessions *sessions, struct dw_mcp_peer *peer,
                        char ret_id[DW_ID_MAX])
{
	struct session *session = calloc(1, sizeof(*session)), *old;

	if (!session || dw_id_make(session->id, NULL) < 0) {
		free(session);
		return -1;
	}
	memcpy(ret_id, session->id, sizeof(session->id));
	session->peer = peer;
	session->used_ms = dw_now_ms();
	(void)pthread_mutex_lock(&sessions->lock);
	session->next = sessions->first;
	sessions->first = session;
	old = expire(sessions, session->used_ms);
	(void)pthread_mutex_unlock(&sessions->lock);
	drop(old);
	return 0;
}

/* The caller holds the lock. Removes a session from the list if the caller owns it. */
static struct session *take(struct dw_mcp_sessions *sessions, const char *id,
                            const struct dw_caller *caller)
{
	struct session *found;

	for (struct session **at = &sessions->first; *at; at = &(*at)->next) {
		found = *at;
		if (strcmp(found->id, id) != 0 ||
		    strcmp(found->peer->caller.who, caller->who) != 0)
			continue;
		*at = found->next;
		return found;
	}
	return NULL;
}

struct dw_mcp_peer *dw_mcp_sessions_find(struct dw_mcp_sessions *sessions, const char *id,
                                         const struct dw_caller *caller)
{
	struct session *session;

	HOLD_LOCK(&sessions->lock);
	session = take(sessions, id, caller);
	if (!session)
		return NULL;
	session->used_ms = dw_now_ms();
	session->next = sessions->first;
	sessions->first = session;
	return dw_mcp_peer_ref(session->peer);
}

bool dw_mcp_sessions_end(struct dw_mcp_sessions *sessions, const char *id,
                         const struct dw_caller *caller)
{
	struct session *session;

	(void)pthread_mutex_lock(&sessions->lock);
	session = take(sessions, id, caller);
	(void)pthread_mutex_unlock(&sessions->lock);
	if (!session)
		return false;
	session->next = NULL;
	drop(session);
	return true;
}
