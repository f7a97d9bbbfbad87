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
	pthread_mutex_t lock; /* of all below; taken before a call's, never after */
	unsigned refs;        /* one of the owner, and one per call */
	bool closed;
	struct dw_mcp_calls calls;
	size_t n_calls;
	char version[16]; /* that initialize agreed on */
	json_t *client;   /* its capabilities from initialize; or NULL */
};

/* ---- calls: call.c ---- */

/*
 * Make a call of a request, and take ownership of message and sink. NULL if the peer is
 * closed or has a call with this id, or without memory; the client gets an error then.
 */
struct dw_mcp_call *dw_mcp_call_create(struct dw_mcp_peer *peer,
                                       struct dw_mcp_message *msg,
                                       const struct dw_mcp_sink *sink);

void dw_mcp_call_cancel(struct dw_mcp_call *call);

/* The peer's call with this id, and a reference to it; or NULL. */
struct dw_mcp_call *dw_mcp_call_find(struct dw_mcp_peer *peer, const json_t *id);

struct dw_mcp_peer *dw_mcp_call_peer(const struct dw_mcp_call *call);

/* Send to the sink; takes ownership of the text, and copes with NULL. */
void dw_mcp_sink_send(const struct dw_mcp_sink *sink, char *text, bool answer,
                      int status);

/*
 * Serve the messages of a batch side by side, and answer them together after the last:
 * only in revision 2025-03-26. Like dw_mcp_peer_take().
 */
void dw_mcp_batch_take(struct dw_mcp_peer *peer, struct dw_mcp_message *msg,
                       const struct dw_mcp_sink *sink);

/* Handle a response of the client, if it belongs to an elicitation. */
void dw_mcp_elicit_take(struct dw_mcp_peer *peer, const struct dw_mcp_message *msg);

/* ---- resources: resources.c ---- */

json_t *dw_mcp_resources_list(void);
json_t *dw_mcp_resources_templates(void);
void dw_mcp_resources_read(struct dw_mcp_call *call, json_t *params);

/* Returns true if the message reads a resource that blocks while it is made. */
bool dw_mcp_resources_slow(const struct dw_mcp_message *msg);

/* "image/png" and others, text/plain or application/octet-stream, from the content. */
const char *dw_mcp_type(const void *data, size_t len);

/* {"uri", "mimeType", "text" or "blob"}. NULL without memory. */
json_t *dw_mcp_contents(const char *uri, const char *type, const void *data, size_t len);

/* dewar://runs/ID/files/NAME; free() it. NULL without memory. */
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
 * Check a modern request. Headers repeat parts of it so that a proxy can route it
 * without parsing; if they differed, it could mean one thing to the proxy and another
 * to us.
 */
int dw_mcp_headers_check(const struct dw_mcp_headers *headers,
                         const struct dw_mcp_message *msg, struct dw_mcp_problem *why);

/* The checks of _meta alone, for every transport. */
int dw_mcp_check_meta(const struct dw_mcp_message *msg, struct dw_mcp_problem *why);
int dw_mcp_check_version(const struct dw_mcp_message *msg, struct dw_mcp_problem *why);

/* ---- HTTP sessions of legacy revisions: sessions.c ---- */

/* Sessions keep apart the request ids of clients. If there are too many, the least
 * recently used one ends. */
struct dw_mcp_sessions;

struct dw_mcp_sessions *dw_mcp_sessions_create(void);        /* NULL without memory */
void dw_mcp_sessions_free(struct dw_mcp_sessions *sessions); /* closes all */

/* Take ownership of a peer and name it. -1 without memory; the caller keeps the peer. */
int dw_mcp_sessions_add(struct dw_mcp_sessions *sessions, struct dw_mcp_peer *peer,
                        char ret_id[DW_ID_MAX]);

/* The peer of this session, and a reference to it, if the caller owns it; or NULL. */
struct dw_mcp_peer *dw_mcp_sessions_find(struct dw_mcp_sessions *sessions, const char *id,
                                         const struct dw_caller *caller);

/* End a session and cancel its calls. False if the caller has no such session. */
bool dw_mcp_sessions_end(struct dw_mcp_sessions *sessions, const char *id,
                         const struct dw_caller *caller);

#endif
