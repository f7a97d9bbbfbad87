/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_MCP_H
#define DW_MCP_MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/task.h"
#include "mcp/jsonrpc.h"

/*
 * The Model Context Protocol, whatever carries it.
 *
 * A carrier (over_stdio.c, over_http.c) reads messages with dw_mcp_parse() and gives
 * each to the peer that it came from, with a sink for what it brings about. A
 * request becomes a call, which lives until it is answered or cancelled; tools
 * run on in the service's threads and answer from there.
 *
 * A peer is who sends messages for as long as their ids mean something: a process
 * at the other end of stdio, a session of HTTP, or one request where there is
 * neither. Both kinds of revisions are spoken to the same peer: a request whose
 * _meta names its revision is modern, and any other is of the revision that
 * initialize agreed on.
 */
struct dw_mcp;
struct dw_mcp_peer;

/* A message for the client: JSON in one line. */
struct dw_mcp_out {
	char *text; /* free() it */
	size_t len;
	bool answer; /* the response, and no other comes */
	int status;  /* of an answer, HTTP's */
};

struct dw_mcp_sink {
	/* From any thread, one at a time. Must not wait for anything, nor call us. */
	void (*send)(void *user, struct dw_mcp_out *out);

	/* Nothing more comes; user may be freed. Exactly once. */
	void (*done)(void *user);
	void *user;
};

/* The service is borrowed. NULL without memory. */
struct dw_mcp *dw_mcp_create(struct dw_service *service);

/* When every peer is closed and the service is at rest. Accepts NULL. */
void dw_mcp_free(struct dw_mcp *mcp);

/* NULL without memory. */
struct dw_mcp_peer *dw_mcp_peer_create(struct dw_mcp *mcp,
                                       const struct dw_caller *caller);

/*
 * Serve a message, which is ours from here on. Returns as soon as it is under way.
 * A request is answered once, unless it is cancelled; other messages are not.
 */
void dw_mcp_peer_take(struct dw_mcp_peer *peer, struct dw_mcp_message *msg,
                      const struct dw_mcp_sink *sink);

/*
 * Cancel what it has running and give it back. No send() begins after this has
 * returned; done() may.
 */
void dw_mcp_peer_close(struct dw_mcp_peer *peer); /* accepts NULL */

/* Another reference, for dw_mcp_peer_unref(), which leaves what runs alone. */
struct dw_mcp_peer *dw_mcp_peer_ref(struct dw_mcp_peer *peer);
void dw_mcp_peer_unref(struct dw_mcp_peer *peer);

/* Cancel its call of this id, as notifications/cancelled would. */
void dw_mcp_peer_cancel(struct dw_mcp_peer *peer, const json_t *id);

/* How many calls it has that are not over. */
size_t dw_mcp_peer_busy(struct dw_mcp_peer *peer);

const struct dw_caller *dw_mcp_peer_caller(const struct dw_mcp_peer *peer);

/*
 * May this modern request be served, as far as its _meta tells? What HTTP's headers
 * must tell is mcp_headers.h's.
 */
int dw_mcp_check_meta(const struct dw_mcp_message *msg, struct dw_mcp_problem *why);
int dw_mcp_check_version(const struct dw_mcp_message *msg, struct dw_mcp_problem *why);

#endif
