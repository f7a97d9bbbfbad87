/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_ELICIT_H
#define DW_MCP_ELICIT_H

#include <stdbool.h>

#include "daemon/task.h"
#include "mcp/call.h"

/*
 * Asking the user of a client whether a run may go on: elicitation, for policies that
 * let people approve what they have asked for themselves.
 *
 * Until 2025-11-25 we send a request while the call goes on, and a response comes. Since
 * 2026-07-28 the call is answered with what is needed (input_required), and the client
 * calls again with it; it is then asked about the same question, since the same caller
 * with the same request is.
 */
struct dw_mcp_peer;

/* A question under way; part of what its owner has of the run. Start from {0}. */
struct dw_mcp_elicit {
	struct dw_mcp_call *call; /* NULL: none is */
	struct dw_mcp_elicit *next, *prev;
	char id[DW_ID_MAX + 16]; /* of the request */
	char approval[DW_ID_MAX];
};

enum dw_mcp_elicited {
	DW_MCP_ELICIT_CANNOT = 0, /* others decide */
	DW_MCP_ELICIT_SENT,       /* the user is asked */
	DW_MCP_ELICIT_TOLD,       /* the call brought the answer, which counts now */
	DW_MCP_ELICIT_ANSWERED, /* with input_required: the call is over, cancel the run */
};

/* Ask the user of the call's client, who may be able to answer. Must not wait. */
enum dw_mcp_elicited dw_mcp_elicit(struct dw_mcp_elicit *ask, struct dw_mcp_call *call,
                                   const struct dw_task_approval *approval);

/* It is decided, or nobody wants to know any more: the client is told. Fine if {0}. */
void dw_mcp_elicit_end(struct dw_mcp_elicit *ask);

/* A response of a peer's: is it to one of these? */
void dw_mcp_elicit_take(struct dw_mcp_peer *peer, const struct dw_mcp_message *msg);

#endif
