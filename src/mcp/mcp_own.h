/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_MCP_OWN_H
#define DW_MCP_MCP_OWN_H

#include <pthread.h>
#include <stdbool.h>

#include "mcp/call.h"
#include "mcp/mcp.h"

/* Private to src/mcp. */

struct dw_mcp {
	struct dw_service *service;
	struct dw_mcp_keepalive *keepalive;
};

LIST_HEAD(dw_mcp_calls, dw_mcp_call);

struct dw_mcp_peer {
	struct dw_mcp *mcp;
	struct dw_caller caller;
	pthread_mutex_t lock; /* of all below; taken before a call's lock, never after */
	unsigned refs;        /* one held by the owner, and one per call */
	bool closed;
	struct dw_mcp_calls calls;
	size_t n_calls;
	char version[16]; /* the revision that initialize agreed on */
	json_t *client;   /* the client's capabilities from initialize, or NULL */
};

/* ---- calls: call.c ---- */

/*
 * Create a call from a request, and take ownership of message and sink. NULL if the peer
 * is closed or has a call with this id, or without memory; the client then gets an error.
 */
struct dw_mcp_call *dw_mcp_call_create(struct dw_mcp_peer *peer,
                                       struct dw_mcp_message *msg,
                                       const struct dw_mcp_sink *sink);

void dw_mcp_call_cancel(struct dw_mcp_call *call);

/* Returns the peer's call with this id, with a reference; or NULL. */
struct dw_mcp_call *dw_mcp_call_find(struct dw_mcp_peer *peer, const json_t *id);

struct dw_mcp_peer *dw_mcp_call_peer(const struct dw_mcp_call *call);

/*
 * Send text to the sink and take ownership of it. For an answer, NULL sends an
 * out-of-memory error; otherwise it sends nothing.
 */
void dw_mcp_sink_send(const struct dw_mcp_sink *sink, char *text, bool answer,
                      int status);

/*
 * Like dw_mcp_peer_take(), for a batch, which only revision 2025-03-26 has: serve its
 * messages concurrently, and answer all of them together after the last.
 */
void dw_mcp_batch_take(struct dw_mcp_peer *peer, struct dw_mcp_message *msg,
                       const struct dw_mcp_sink *sink);

/* Handle a response from the client, if it belongs to an elicitation. */
void dw_mcp_elicit_take(struct dw_mcp_peer *peer, const struct dw_mcp_message *msg);

/* ---- resources: resources.c ---- */

json_t *dw_mcp_resources_list(void);
json_t *dw_mcp_resources_templates(void);
void dw_mcp_resources_read(struct dw_mcp_call *call, json_t *params);

/* Returns true if the message reads a resource that takes long to create. */
bool dw_mcp_resources_slow(const struct dw_mcp_message *msg);

/* Returns the content's type: an image type, text/plain or application/octet-stream. */
const char *dw_mcp_type(const void *data, size_t len);

/* Returns {"uri", "mimeType", "text" or "blob"}. NULL without memory. */
json_t *dw_mcp_contents(const char *uri, const char *type, const void *data, size_t len);

/* Returns dewar://runs/ID/files/NAME; free() it. NULL without memory. */
char *dw_mcp_file_uri(const char *id, const char *name);

/* ---- HTTP headers of modern requests: mcp_headers.c ---- */

struct dw_mcp_headers {
	const char *(*get)(void *user, const char *name); /* NULL: absent */
	void *user;
};

/*
 * Returns true if the message is of revision 2026-07-28 or later: if its _meta names a
 * revision, or the header names one that is not a legacy revision.
 */
bool dw_mcp_headers_modern(const struct dw_mcp_headers *headers,
                           const struct dw_mcp_message *msg);

/*
 * Check a modern request. Its headers repeat parts of the message so that a proxy can
 * route it without parsing; if they differed, the request could mean one thing to the
 * proxy and another to us.
 */
int dw_mcp_headers_check(const struct dw_mcp_headers *headers,
                         const struct dw_mcp_message *msg, struct dw_mcp_problem *why);

/* Check only _meta: for every transport. */
int dw_mcp_check_meta(const struct dw_mcp_message *msg, struct dw_mcp_problem *why);
int dw_mcp_check_version(const struct dw_mcp_message *msg, struct dw_mcp_problem *why);

/* ---- HTTP sessions of legacy revisions: sessions.c ---- */

/*
 * A session is the scope of a client's request ids. If there are too many sessions, the
 * least recently used one ends.
 */
struct dw_mcp_sessions;

struct dw_mcp_sessions *dw_mcp_sessions_create(void);        /* NULL without memory */
void dw_mcp_sessions_free(struct dw_mcp_sessions *sessions); /* closes all sessions */

/*
 * Take ownership of a peer and write its new session id. -1 without memory; the caller
 * then keeps the peer.
 */
int dw_mcp_sessions_add(struct dw_mcp_sessions *sessions, struct dw_mcp_peer *peer,
                        char ret_id[DW_ID_MAX]);

/* Returns the peer of this session, with a reference, if the caller owns it; or NULL. */
struct dw_mcp_peer *dw_mcp_sessions_find(struct dw_mcp_sessions *sessions, const char *id,
                                         const struct dw_caller *caller);

/* End a session and cancel its calls. Returns false if the caller has no such session. */
bool dw_mcp_sessions_end(struct dw_mcp_sessions *sessions, const char *id,
                         const struct dw_caller *caller);

#endif
