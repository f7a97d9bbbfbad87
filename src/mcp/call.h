/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_CALL_H
#define DW_MCP_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "daemon/api_error.h"
#include "daemon/task.h"
#include "dewar/request.h"
#include "mcp/jsonrpc.h"

/*
 * A request in progress, for the code that serves it. A method that answers after it
 * has returned holds a reference until then. All functions may be called from any
 * thread, and do nothing once the call is answered or cancelled.
 */
struct dw_mcp_call;
struct dw_mcp_keepalive;

struct dw_mcp_call *dw_mcp_call_ref(struct dw_mcp_call *call);
void dw_mcp_call_unref(struct dw_mcp_call *call);

struct dw_service *dw_mcp_call_service(const struct dw_mcp_call *call);
struct dw_mcp_keepalive *dw_mcp_call_keepalive(const struct dw_mcp_call *call);
const struct dw_caller *dw_mcp_call_caller(const struct dw_mcp_call *call);
const struct dw_mcp_message *dw_mcp_call_message(const struct dw_mcp_call *call);
bool dw_mcp_call_is_modern(const struct dw_mcp_call *call);

/* Returns true if the call uses this revision or a later one. */
bool dw_mcp_call_since(const struct dw_mcp_call *call, const char *version);

/* The client's capabilities: from this request, or from initialize. May be NULL. */
const json_t *dw_mcp_call_client(const struct dw_mcp_call *call);

/* Returns true if the call was answered or cancelled. */
bool dw_mcp_call_is_over(struct dw_mcp_call *call);

/* Answer the call; takes ownership of the result. NULL means out of memory. */
void dw_mcp_call_answer(struct dw_mcp_call *call, json_t *result);

/*
 * Answer the call, and say for how long the client may cache the answer, and whether for
 * all callers. Revisions before 2026-07-28 have no such fields.
 */
void dw_mcp_call_answer_cached(struct dw_mcp_call *call, json_t *result, unsigned ttl_ms,
                               bool for_all);

/* Answer with an error; dw_mcp_call_refuse() takes ownership of the problem. */
void dw_mcp_call_refuse(struct dw_mcp_call *call, struct dw_mcp_problem *why);
void dw_mcp_call_fail(struct dw_mcp_call *call, enum dw_mcp_code code, int status,
                      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Send another message; takes ownership of it, and adds "jsonrpc". */
void dw_mcp_call_send(struct dw_mcp_call *call, json_t *message);

/* Returns true if the client asked for progress notifications. */
bool dw_mcp_call_wants_progress(const struct dw_mcp_call *call);

/*
 * Notify a client that asked for progress. The protocol requires that progress increases:
 * a value that does not is replaced by one slightly above the last. total 0: unknown.
 */
void dw_mcp_call_progress(struct dw_mcp_call *call, double progress, double total,
                          const char *text);

/*
 * Set the function to call when the call is cancelled. Call this once. fn runs at most
 * once, perhaps before this returns, in the thread that cancels. release(user) runs when
 * the call is freed.
 */
void dw_mcp_call_on_cancel(struct dw_mcp_call *call, void (*fn)(void *user),
                           void (*release)(void *user), void *user);

/* ---- methods and tools ---- */

enum dw_mcp_eras {
	DW_MCP_LEGACY = 1U << 0,
	DW_MCP_MODERN = 1U << 1,
	DW_MCP_BOTH = DW_MCP_LEGACY | DW_MCP_MODERN,
};

/* A method of the protocol. */
struct dw_mcp_method {
	const char *name;
	unsigned eras;                                           /* of enum dw_mcp_eras */
	void (*serve)(struct dw_mcp_call *call, json_t *params); /* params may be NULL */
};

/* A tool: its entry in tools/list, and its tools/call. */
struct dw_mcp_tool {
	const char *name;
	json_t *(*describe)(void);                            /* NULL without memory */
	void (*call)(struct dw_mcp_call *call, json_t *args); /* args is an object */
};

/*
 * Methods and tools besides Dewar's own. dewar-serve has none (extra_none.c); the test
 * program for the conformance suite has those that the suite calls.
 */
struct dw_mcp_extra {
	const struct dw_mcp_method *methods; /* searched first; ends in a NULL name */
	const struct dw_mcp_tool *tools;     /* listed last; ends in a NULL name */
	void (*capabilities)(json_t *object, bool modern);  /* or NULL */
	void (*response)(const struct dw_mcp_message *msg); /* from the client; or NULL */
};

extern const struct dw_mcp_extra dw_mcp_extra;

/* ---- keepalive: keepalive.c ---- */

/*
 * A keepalive calls the fn of each entry at intervals: many clients drop a call that
 * sends no progress for a minute. Embed the entry, and start from {.fn, .user}.
 */
struct dw_mcp_keepalive_entry {
	void (*fn)(void *user); /* must not block */
	void *user;
	LIST_ENTRY(dw_mcp_keepalive_entry) link;
};

/* NULL without memory. Adding the first entry starts the thread. */
struct dw_mcp_keepalive *dw_mcp_keepalive_create(unsigned every_ms);
void dw_mcp_keepalive_free(struct dw_mcp_keepalive *keepalive); /* accepts NULL */

void dw_mcp_keepalive_add(struct dw_mcp_keepalive *keepalive,
                          struct dw_mcp_keepalive_entry *entry);

/* fn is not running once this returns. Must not be called from fn. */
void dw_mcp_keepalive_remove(struct dw_mcp_keepalive *keepalive,
                             struct dw_mcp_keepalive_entry *entry);

/* ---- asking the client's user for approval: elicit.c ---- */

/*
 * Elicitation, for policies that allow users to approve their own requests. Until
 * 2025-11-25 we send a request during the call, and the client responds. Since
 * 2026-07-28 the call is answered with input_required, and the client repeats it with
 * the response; the same request of the same caller finds the same approval.
 *
 * Embed it, and start from {0}.
 */
struct dw_mcp_elicit {
	struct dw_mcp_call *call; /* NULL: no request is open */
	LIST_ENTRY(dw_mcp_elicit) link;
	char id[DW_ID_MAX + 16]; /* of the request */
	char approval[DW_ID_MAX];
};

enum dw_mcp_elicited {
	DW_MCP_ELICIT_CANNOT = 0, /* only other approvers can decide */
	DW_MCP_ELICIT_SENT,       /* the request was sent */
	DW_MCP_ELICIT_TOLD,       /* the call contained the response, now applied */
	DW_MCP_ELICIT_ANSWERED, /* with input_required: the call is over, cancel the run */
};

/* Ask the user of the call's client for this approval. Does not block. */
enum dw_mcp_elicited dw_mcp_elicit(struct dw_mcp_elicit *elicit, struct dw_mcp_call *call,
                                   const struct dw_task_approval *approval);

/* Withdraw an open request, because it is decided or the run has ended. Accepts {0}. */
void dw_mcp_elicit_end(struct dw_mcp_elicit *elicit);

/* ---- results of tools: tool_result.c; all return NULL without memory ---- */

/* The outputSchema of the tools that run something. */
json_t *dw_mcp_result_schema(void);

/* The result of a run. structured: with structuredContent, which old revisions lack. */
json_t *dw_mcp_result_make(const struct dw_task *task, bool structured);

/*
 * The result if nothing ran: the reason, as text that a model can act on, and for
 * programs in _meta, {"code", "message", "hint"} as in the errors of the HTTP API.
 */
#define DW_MCP_ERROR_KEY "dewar/error"
json_t *dw_mcp_result_refused(const struct dw_api_error *why);

/* ---- tools: tools.c ---- */

/* Returns the list for tools/list, with the keys that the call's revision has. */
json_t *dw_mcp_tools_list(const struct dw_mcp_call *call);

/* Serve tools/call. */
void dw_mcp_tools_call(struct dw_mcp_call *call, json_t *params);

/* The tools, ending in a row without a name; `dewar tool-schema` prints them. */
extern const struct dw_mcp_tool dw_mcp_tools[];

/* ---- args.c ---- */

/*
 * The arguments of the tools: their JSON Schema, and how they become a request. Host
 * paths and images are not arguments: a model writes the arguments, and it may follow
 * instructions in untrusted text that it has read.
 */
enum dw_mcp_runs {
	DW_MCP_RUNS_CODE = 1U << 0,
	DW_MCP_RUNS_COMMAND = 1U << 1,
};

/* The inputSchema of a tool. NULL without memory. */
json_t *dw_mcp_args_schema(enum dw_mcp_runs which);

/*
 * Copy an error about a request, and replace the name of a limit by that of its argument:
 * timeout_s instead of limits.timeout_s.
 */
void dw_mcp_args_rename(const char *message, char *ret, size_t size);

/*
 * Fill an initialised request. A DW_E_INVALID error is written for a model: it names an
 * unknown argument, and for an unknown language or level it lists the known ones.
 */
int dw_mcp_args_read(enum dw_mcp_runs which, const json_t *args, struct dw_request *req,
                     struct dw_error *err);

#endif
