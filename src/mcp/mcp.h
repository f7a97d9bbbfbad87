/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_MCP_H
#define DW_MCP_MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/task.h"
#include "mcp/jsonrpc.h"

/*
 * The Model Context Protocol, independent of its transport.
 *
 * A transport (over_stdio.c, over_http.c) parses messages with dw_mcp_parse() and passes
 * each to the peer that sent it, with a sink for the messages in reply. A request becomes
 * a call, which lives until it is answered or cancelled; tools run in the service's
 * threads and answer from there.
 *
 * A peer is the scope of request ids: the process at the other end of stdio, an HTTP
 * session, or a single HTTP request if there is no session. A peer may use both kinds of
 * revisions: a request whose _meta names its revision is modern, and any other request
 * uses the revision that initialize agreed on.
 */
struct dw_mcp;
struct dw_mcp_http;
struct dw_mcp_peer;

/* The service is borrowed. NULL without memory. */
struct dw_mcp *dw_mcp_create(struct dw_service *service);

/* Every peer must be closed and the service idle. Accepts NULL. */
void dw_mcp_free(struct dw_mcp *mcp);

/*
 * Serve MCP on a pair of descriptors, one message per line. Returns at the end of input,
 * when stop_fd becomes readable, or when the client stops reading. It then cancels
 * unfinished calls, and writes the answers that were given before. Returns -1 if it could
 * not start.
 */
int dw_mcp_stdio(struct dw_mcp *mcp, const struct dw_caller *caller, int in_fd,
                 int out_fd, int stop_fd, struct dw_error *err);

/* Serve MCP at /mcp (Streamable HTTP). The service is borrowed. NULL without memory. */
struct dw_mcp_http *dw_mcp_http_create(struct dw_service *service);

/* No exchange may be left, and the service must be drained. Accepts NULL. */
void dw_mcp_http_free(struct dw_mcp_http *http);

/* ---- for transports ---- */

/* A message for the client: one line of JSON. */
struct dw_mcp_out {
	char *text; /* free() it */
	size_t len;
	bool answer; /* the response: the last message of a call */
	int status;  /* HTTP status of an answer */
};

struct dw_mcp_sink {
	/* From any thread, one at a time. Must not block, nor call into src/mcp. */
	void (*send)(void *user, struct dw_mcp_out *out);

	/* Called exactly once: no more messages follow, and user may be freed. */
	void (*done)(void *user);
	void *user;
};

/* NULL without memory. */
struct dw_mcp_peer *dw_mcp_peer_create(struct dw_mcp *mcp,
                                       const struct dw_caller *caller);

/*
 * Serve a message and take ownership of it. Returns without waiting for the answer. A
 * request is answered once, unless it is cancelled; other messages are not answered.
 */
void dw_mcp_peer_take(struct dw_mcp_peer *peer, struct dw_mcp_message *msg,
                      const struct dw_mcp_sink *sink);

/*
 * Cancel the peer's calls and drop the caller's reference. After this returns, no send()
 * begins; done() may. Accepts NULL.
 */
void dw_mcp_peer_close(struct dw_mcp_peer *peer);

/* Take another reference. Dropping a reference cancels nothing. */
struct dw_mcp_peer *dw_mcp_peer_ref(struct dw_mcp_peer *peer);
void dw_mcp_peer_unref(struct dw_mcp_peer *peer);

/* Cancel the call with this id, as notifications/cancelled does. */
void dw_mcp_peer_cancel(struct dw_mcp_peer *peer, const json_t *id);

/* The number of unfinished calls. */
size_t dw_mcp_peer_busy(struct dw_mcp_peer *peer);

#endif
