/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_CALL_H
#define DW_MCP_CALL_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/task.h"
#include "mcp/jsonrpc.h"

/*
 * A request under way, as who serves it sees it. Whoever answers later than its
 * method returns holds a reference until then. Everything here may be called from
 * any thread; after an answer or a cancel all of it does nothing.
 */
struct dw_mcp_call;
struct dw_mcp_keepalive;

struct dw_mcp_call *dw_mcp_call_ref(struct dw_mcp_call *call);
void dw_mcp_call_unref(struct dw_mcp_call *call);

struct dw_service *dw_mcp_call_service(const struct dw_mcp_call *call);
struct dw_mcp_keepalive *dw_mcp_call_pulse(const struct dw_mcp_call *call);
const struct dw_caller *dw_mcp_call_caller(const struct dw_mcp_call *call);
const struct dw_mcp_message *dw_mcp_call_message(const struct dw_mcp_call *call);
bool dw_mcp_call_is_modern(const struct dw_mcp_call *call);

/* Is it of this revision or a later one? */
bool dw_mcp_call_since(const struct dw_mcp_call *call, const char *version);

/* What the client said it can do: of this request, or at initialize. May be NULL. */
const json_t *dw_mcp_call_client(const struct dw_mcp_call *call);

/* Was it answered or cancelled? */
bool dw_mcp_call_is_over(struct dw_mcp_call *call);

/* The answer; the tree is taken over, and NULL means that memory ran out. */
void dw_mcp_call_answer(struct dw_mcp_call *call, json_t *result);

/* An answer that may be kept for so long, and by whom. Older revisions are not told. */
void dw_mcp_call_answer_cached(struct dw_mcp_call *call, json_t *result, unsigned ttl_ms,
                               bool for_all);

/* The problem is taken over. */
void dw_mcp_call_refuse(struct dw_mcp_call *call, struct dw_mcp_problem *why);

/* Another message on the same way; the tree, without "jsonrpc", is taken over. */
void dw_mcp_call_send(struct dw_mcp_call *call, json_t *message);

/* Does the client want to know how far we are? */
bool dw_mcp_call_wants_progress(const struct dw_mcp_call *call);

/*
 * Tell it, if it wants to know. Progress only goes up: one that does not is moved a
 * little above the last. total 0: nobody knows.
 */
void dw_mcp_call_progress(struct dw_mcp_call *call, double progress, double total,
                          const char *text);

/*
 * What to do when it is cancelled: called at most once, perhaps at once, from
 * whichever thread cancels. The user is released with the call. Once for a call.
 */
void dw_mcp_call_on_cancel(struct dw_mcp_call *call, void (*fn)(void *user),
                           void (*release)(void *user), void *user);

/* A method of the protocol's. */
enum dw_mcp_eras {
	DW_MCP_LEGACY = 1U << 0,
	DW_MCP_MODERN = 1U << 1,
	DW_MCP_BOTH = DW_MCP_LEGACY | DW_MCP_MODERN,
};

struct dw_mcp_method {
	const char *name;
	unsigned eras;                                           /* of enum dw_mcp_eras */
	void (*serve)(struct dw_mcp_call *call, json_t *params); /* may be NULL */
};

/* A tool: what tools/list says of it, and what tools/call does. */
struct dw_mcp_tool {
	const char *name;
	json_t *(*describe)(void);                            /* NULL without memory */
	void (*call)(struct dw_mcp_call *call, json_t *args); /* an object */
};

/*
 * What a server has besides our own tools and resources. There is nothing of the
 * kind in dewar-serve (extra_none.c): it is where the program that the
 * conformance suite runs against has the things which that suite calls.
 */
struct dw_mcp_extra {
	const struct dw_mcp_method *methods; /* before ours; ends in a name NULL */
	const struct dw_mcp_tool *tools;     /* behind ours; ends in a name NULL */
	void (*capabilities)(json_t *object, bool modern);  /* or NULL */
	void (*response)(const struct dw_mcp_message *msg); /* to what it asked; or NULL */
};

extern const struct dw_mcp_extra dw_mcp_extra;

#endif
