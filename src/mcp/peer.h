/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_PEER_H
#define DW_MCP_PEER_H

#include <pthread.h>
#include <stdbool.h>

#include "mcp/call.h"
#include "mcp/mcp.h"

/* For mcp.c and call.c alone. */

struct dw_mcp {
	struct dw_service *service;
	struct dw_mcp_keepalive *pulse;
};

struct dw_mcp_peer {
	struct dw_mcp *mcp;
	struct dw_caller caller;
	pthread_mutex_t lock; /* of all below; taken before a call's, never after */
	unsigned refs;        /* its owner's, and one a call */
	bool closed;
	struct dw_mcp_call *calls;
	size_t n_calls;
	char version[16]; /* that initialize agreed on */
	json_t *client;   /* its capabilities, as initialize told; or NULL */
};

/*
 * Make a call of a request; message and sink are the call's from here on. NULL: the
 * peer is closed, has a call of this id, or memory ran out. The sink has been told so.
 */
struct dw_mcp_call *dw_mcp_call_create(struct dw_mcp_peer *peer,
                                       struct dw_mcp_message *msg,
                                       const struct dw_mcp_sink *sink);

void dw_mcp_call_cancel(struct dw_mcp_call *call);

/* The peer's call of this id, with a reference; or NULL. */
struct dw_mcp_call *dw_mcp_call_find(struct dw_mcp_peer *peer, const json_t *id);

struct dw_mcp_peer *dw_mcp_call_peer(const struct dw_mcp_call *call);

#endif
