/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error_json.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "daemon/service.h"
#include "mcp/mcp_own.h"

/* The maximum number of bytes of code that a dialog shows. */
#define EXCERPT_MAX 1500
#define KEY "approval"

/*
 * The open requests. While a thread holds this lock, it takes no other locks except those
 * of the service and of a call.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(elicits,
                 dw_mcp_elicit) open_requests = LIST_HEAD_INITIALIZER(open_requests);

/* ---- the question ---- */

/* Returns true if the client can show a form; some clients can only open a URL. */
static bool has_forms(const struct dw_mcp_call *call)
{
	const json_t *can = json_object_get(dw_mcp_call_client(call), "elicitation");

	return dw_mcp_call_since(call, DW_MCP_2025_06_18) && json_is_object(can) &&
	       (json_object_get(can, "form") || !json_object_get(can, "url"));
}

static json_t *make_message(const struct dw_mcp_call *call,
                            const struct dw_task_approval *approval)
{
	const json_t *args = json_object_get(dw_mcp_call_message(call)->params,
	                                     "arguments");
	const char *language = dw_mcp_text(args, "language");
	const char *code = dw_mcp_text(args, "code");
	autobuf struct dw_buf text;
	size_t len;

	if (!code)
		code = dw_mcp_text(args, "command");
	if (!code)
		code = "";
	len = strnlen(code, EXCERPT_MAX);
	if (code[len] != '\0')
		len -= dw_utf8_unfinished(code, len);
	dw_buf_init(&text, SIZE_MAX / 2);
	(void)dw_buf_printf(
		&text, "May this %s run? The policy's rule %s requires approval: %s\n\n",
		language ? language : "command", approval->rule, approval->reason);
	(void)dw_buf_add(&text, code, len);
	if (code[len] != '\0')
		(void)dw_buf_printf(&text, "\n... and %zu more bytes",
		                    strlen(code) - len);
	return text.failed ? NULL : dw_json_text(text.data, text.len);
}

static json_t *make_params(const struct dw_mcp_call *call,
                           const struct dw_task_approval *approval)
{
	json_t *params =
		json_pack("{s:o, s:{s:s, s:{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}, s:[s]}}",
	                  "message", make_message(call, approval), "requestedSchema",
	                  "type", "object", "properties", "approve", "type", "boolean",
	                  "title", "Approve", "description", "Run it once", "note",
	                  "type", "string", "title", "Note", "description",
	                  "The reason, for the audit record", "required", "approve");

	if (params && dw_mcp_call_since(call, DW_MCP_2025_11_25))
		(void)json_object_set_new(params, "mode", json_string("form"));
	return params;
}

/* ---- the response ---- */

static void decide(const struct dw_mcp_call *call, const char *approval,
                   const json_t *answer)
{
	const char *action = dw_mcp_text(answer, "action");
	const json_t *content = json_object_get(answer, "content");
	const char *note = dw_mcp_text(content, "note");
	bool yes = action && strcmp(action, "accept") == 0 &&
	           json_is_true(json_object_get(content, "approve"));

	dw_service_decide(dw_mcp_call_service(call), approval,
	                  dw_mcp_call_caller(call)->who, yes, note);
}

/* Returns true if the call contains the response to this question, and applies it. */
static bool use_response(struct dw_mcp_call *call,
                         const struct dw_task_approval *approval)
{
	const json_t *params = dw_mcp_call_message(call)->params;
	const char *state = dw_mcp_text(params, "requestState");
	const json_t *answer = json_object_get(json_object_get(params, "inputResponses"),
	                                       KEY);

	if (!state || strcmp(state, approval->id) != 0 || !json_is_object(answer))
		return false;
	decide(call, approval->id, answer);
	return true;
}

static void answer_input_required(struct dw_mcp_call *call,
                                  const struct dw_task_approval *approval)
{
	dw_mcp_call_answer(call, json_pack("{s:s, s:{s:{s:s, s:o}}, s:s}", "resultType",
	                                   "input_required", "inputRequests", KEY,
	                                   "method", "elicitation/create", "params",
	                                   make_params(call, approval), "requestState",
	                                   approval->id));
}

/* ---- open requests ---- */

static void send_request(struct dw_mcp_elicit *elicit, struct dw_mcp_call *call,
                         const struct dw_task_approval *approval)
{
	elicit->call = call;
	(void)snprintf(elicit->approval, sizeof(elicit->approval), "%s", approval->id);
	(void)snprintf(elicit->id, sizeof(elicit->id), KEY "-%s", approval->id);
	(void)pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&open_requests, elicit, link);
	(void)pthread_mutex_unlock(&lock);
	dw_mcp_call_send(call, json_pack("{s:s, s:s, s:o}", "id", elicit->id, "method",
	                                 "elicitation/create", "params",
	                                 make_params(call, approval)));
}

enum dw_mcp_elicited dw_mcp_elicit(struct dw_mcp_elicit *elicit, struct dw_mcp_call *call,
                                   const struct dw_task_approval *approval)
{
	dw_mcp_elicit_end(elicit);
	if (!approval->self || !has_forms(call))
		return DW_MCP_ELICIT_CANNOT;
	if (!dw_mcp_call_is_modern(call)) {
		send_request(elicit, call, approval);
		return DW_MCP_ELICIT_SENT;
	}
	if (use_response(call, approval))
		return DW_MCP_ELICIT_TOLD;
	answer_input_required(call, approval);
	return DW_MCP_ELICIT_ANSWERED;
}

/* The caller holds the lock. */
static void close_request(struct dw_mcp_elicit *elicit)
{
	LIST_REMOVE(elicit, link);
	elicit->call = NULL;
}

void dw_mcp_elicit_end(struct dw_mcp_elicit *elicit)
{
	struct dw_mcp_call *call;

	(void)pthread_mutex_lock(&lock);
	call = elicit->call;
	if (call)
		close_request(elicit);
	(void)pthread_mutex_unlock(&lock);
	if (call)
		dw_mcp_call_send(call, json_pack("{s:s, s:{s:s, s:s}}", "method",
		                                 "notifications/cancelled", "params",
		                                 "requestId", elicit->id, "reason",
		                                 "already decided, or no longer needed"));
}

void dw_mcp_elicit_take(struct dw_mcp_peer *peer, const struct dw_mcp_message *msg)
{
	const char *id = dw_mcp_text(msg->root, "id");
	const json_t *answer = json_object_get(msg->root, "result");
	struct dw_mcp_elicit *elicit;

	if (!id)
		return;
	HOLD_LOCK(&lock);
	for (elicit = LIST_FIRST(&open_requests); elicit;
	     elicit = LIST_NEXT(elicit, link))
		if (strcmp(elicit->id, id) == 0 && dw_mcp_call_peer(elicit->call) == peer)
			break;
	if (!elicit)
		return;
	/*
	 * An error is not a decision: other approvers may still decide. A response that
	 * arrives after the call was cancelled does not count.
	 */
	if (json_is_object(answer) && !dw_mcp_call_is_over(elicit->call))
		decide(elicit->call, elicit->approval, answer);
	close_request(elicit);
}
