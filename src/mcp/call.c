/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error_json.h"
#include "base/lock.h"
#include "dewar/dewar.h"
#include "mcp/mcp_own.h"

/*
 * References: a call holds its peer, and the code that serves it holds the call. The
 * peer's list holds no reference: a call leaves the list with its last reference.
 */
struct dw_mcp_call {
	struct dw_mcp_peer *peer;
	LIST_ENTRY(dw_mcp_call) link; /* peer->lock */
	unsigned refs;                /* peer->lock */
	bool closing;                 /* peer->lock; dw_mcp_peer_close() has seen it */

	struct dw_mcp_message *msg;
	char version[16];
	bool modern;
	json_t *client;
	const json_t *token; /* the progress token, or NULL */

	pthread_mutex_t lock; /* protects all below; held while the sink sends */
	bool over;            /* answered or cancelled */
	bool cancelled;
	double progress;
	void (*on_cancel)(void *user);
	void (*release)(void *user);
	void *user;
	struct dw_mcp_sink sink;
};

/* ---- creation and references ---- */

struct dw_mcp_peer *dw_mcp_peer_ref(struct dw_mcp_peer *peer)
{
	HOLD_LOCK(&peer->lock);
	peer->refs++;
	return peer;
}

void dw_mcp_peer_unref(struct dw_mcp_peer *peer)
{
	bool last;

	(void)pthread_mutex_lock(&peer->lock);
	last = --peer->refs == 0;
	(void)pthread_mutex_unlock(&peer->lock);
	if (!last)
		return;
	(void)pthread_mutex_destroy(&peer->lock);
	json_decref(peer->client);
	free(peer);
}

void dw_mcp_sink_send(const struct dw_mcp_sink *sink, char *text, bool answer, int status)
{
	struct dw_mcp_out out = {.text = text, .answer = answer, .status = status};

	if (!text && answer)
		out.text = strdup(
			"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
			"\"message\":\"out of memory\"}}");
	if (!out.text)
		return;
	out.len = strlen(out.text);
	sink->send(sink->user, &out);
}

/* Answer a request that cannot become a call. */
static struct dw_mcp_call *reject(struct dw_mcp_message *msg,
                                  const struct dw_mcp_sink *sink, enum dw_mcp_code code,
                                  const char *text)
{
	struct dw_mcp_problem why;

	(void)dw_mcp_refuse(&why, code, 400, NULL, "%s", text);
	dw_mcp_sink_send(sink, dw_mcp_error(msg->id, &why), true, why.status);
	dw_mcp_message_free(msg);
	sink->done(sink->user);
	return NULL;
}

/* The caller holds the peer's lock. */
static struct dw_mcp_call *find(struct dw_mcp_peer *peer, const json_t *id)
{
	struct dw_mcp_call *call;

	for (call = LIST_FIRST(&peer->calls); call; call = LIST_NEXT(call, link))
		if (json_equal(call->msg->id, id))
			break;
	return call;
}

static const json_t *find_token(const json_t *meta)
{
	const json_t *token = json_object_get(meta, "progressToken");

	return json_is_string(token) || json_is_integer(token) ? token : NULL;
}

static void free_call(struct dw_mcp_call *call)
{
	json_decref(call->client);
	(void)pthread_mutex_destroy(&call->lock);
	free(call);
}

/* Returns NULL, or the reason why the peer refuses the call. */
static const char *add_call(struct dw_mcp_peer *peer, struct dw_mcp_call *call)
{
	HOLD_LOCK(&peer->lock);
	if (peer->closed)
		return "the connection is closed";
	if (find(peer, call->msg->id))
		return "a request with this id is still in progress";
	if (!call->modern) {
		memcpy(call->version, peer->version, sizeof(call->version));
		call->client = json_incref(peer->client);
	}
	LIST_INSERT_HEAD(&peer->calls, call, link);
	peer->n_calls++;
	peer->refs++;
	return NULL;
}

struct dw_mcp_call *dw_mcp_call_create(struct dw_mcp_peer *peer,
                                       struct dw_mcp_message *msg,
                                       const struct dw_mcp_sink *sink)
{
	struct dw_mcp_call *call = calloc(1, sizeof(*call));
	const char *refused;

	if (!call)
		return reject(msg, sink, DW_MCP_INTERNAL, "out of memory");
	*call = (struct dw_mcp_call){
		.peer = peer,
		.refs = 1,
		.msg = msg,
		.version = DW_MCP_2026_07_28,
		.modern = msg->version != NULL,
		.token = find_token(msg->meta),
		.progress = -1,
		.sink = *sink,
	};
	(void)pthread_mutex_init(&call->lock, NULL);
	if (call->modern)
		call->client = json_incref(
			json_object_get(msg->meta, DW_MCP_META "clientCapabilities"));
	refused = add_call(peer, call);
	if (!refused)
		return call;
	free_call(call);
	return reject(msg, sink, DW_MCP_REQUEST, refused);
}

struct dw_mcp_call *dw_mcp_call_ref(struct dw_mcp_call *call)
{
	HOLD_LOCK(&call->peer->lock);
	call->refs++;
	return call;
}

void dw_mcp_call_unref(struct dw_mcp_call *call)
{
	struct dw_mcp_peer *peer = call->peer;
	bool last;

	(void)pthread_mutex_lock(&peer->lock);
	last = --call->refs == 0;
	if (last) {
		LIST_REMOVE(call, link);
		peer->n_calls--;
	}
	(void)pthread_mutex_unlock(&peer->lock);
	if (!last)
		return;

	if (call->release)
		call->release(call->user);
	call->sink.done(call->sink.user);
	dw_mcp_message_free(call->msg);
	free_call(call);
	dw_mcp_peer_unref(peer);
}

struct dw_mcp_call *dw_mcp_call_find(struct dw_mcp_peer *peer, const json_t *id)
{
	struct dw_mcp_call *call;

	HOLD_LOCK(&peer->lock);
	call = find(peer, id);
	if (call)
		call->refs++;
	return call;
}

/* ---- properties ---- */

struct dw_mcp_peer *dw_mcp_call_peer(const struct dw_mcp_call *call)
{
	return call->peer;
}

struct dw_service *dw_mcp_call_service(const struct dw_mcp_call *call)
{
	return call->peer->mcp->service;
}

struct dw_mcp_keepalive *dw_mcp_call_keepalive(const struct dw_mcp_call *call)
{
	return call->peer->mcp->keepalive;
}

const struct dw_caller *dw_mcp_call_caller(const struct dw_mcp_call *call)
{
	return &call->peer->caller;
}

const struct dw_mcp_message *dw_mcp_call_message(const struct dw_mcp_call *call)
{
	return call->msg;
}

bool dw_mcp_call_is_modern(const struct dw_mcp_call *call)
{
	return call->modern;
}

bool dw_mcp_call_since(const struct dw_mcp_call *call, const char *version)
{
	return strcmp(call->version, version) >= 0;
}

const json_t *dw_mcp_call_client(const struct dw_mcp_call *call)
{
	return call->client;
}

bool dw_mcp_call_wants_progress(const struct dw_mcp_call *call)
{
	return call->token != NULL;
}

bool dw_mcp_call_is_over(struct dw_mcp_call *call)
{
	HOLD_LOCK(&call->lock);
	return call->over;
}

/* ---- answers and other messages ---- */

static void answer(struct dw_mcp_call *call, char *text, int status)
{
	HOLD_LOCK(&call->lock);
	if (call->over)
		free(text);
	else
		dw_mcp_sink_send(&call->sink, text, true, status);
	call->over = true;
}

/* Every modern answer has a resultType and names the server. */
static void add_modern_fields(json_t *result)
{
	json_t *meta = json_object_get(result, "_meta");

	if (!json_object_get(result, "resultType"))
		(void)json_object_set_new(result, "resultType", json_string("complete"));
	if (!meta && json_object_set_new(result, "_meta", json_object()) == 0)
		meta = json_object_get(result, "_meta");
	(void)json_object_set_new(meta, DW_MCP_META "serverInfo",
	                          json_pack("{s:s, s:s}", "name", "dewar", "version",
	                                    dw_version()));
}

void dw_mcp_call_answer(struct dw_mcp_call *call, json_t *result)
{
	json_auto_t *root = NULL;

	if (call->modern && result)
		add_modern_fields(result);
	root = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", call->msg->id,
	                 "result", result);
	answer(call, dw_mcp_dump(root), 200);
}

void dw_mcp_call_answer_cached(struct dw_mcp_call *call, json_t *result, unsigned ttl_ms,
                               bool for_all)
{
	if (call->modern && result) {
		(void)json_object_set_new(result, "ttlMs", json_integer(ttl_ms));
		(void)json_object_set_new(result, "cacheScope",
		                          json_string(for_all ? "public" : "private"));
	}
	dw_mcp_call_answer(call, result);
}

void dw_mcp_call_refuse(struct dw_mcp_call *call, struct dw_mcp_problem *why)
{
	/* Before 2026-07-28 the HTTP status of every JSON-RPC error is 200. */
	answer(call, dw_mcp_error(call->msg->id, why), call->modern ? why->status : 200);
	json_decref(why->data);
}

void dw_mcp_call_fail(struct dw_mcp_call *call, enum dw_mcp_code code, int status,
                      const char *fmt, ...)
{
	struct dw_mcp_problem why = {.code = code, .status = status};
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why.text, sizeof(why.text), fmt, ap);
	va_end(ap);
	dw_mcp_call_refuse(call, &why);
}

/* The caller holds the lock. */
static void send_message(struct dw_mcp_call *call, json_t *message)
{
	json_auto_t *owned = message;

	if (!message || call->over)
		return;
	(void)json_object_set_new(message, "jsonrpc", json_string("2.0"));
	dw_mcp_sink_send(&call->sink, dw_mcp_dump(owned), false, 0);
}

void dw_mcp_call_send(struct dw_mcp_call *call, json_t *message)
{
	HOLD_LOCK(&call->lock);
	send_message(call, message);
}

void dw_mcp_call_progress(struct dw_mcp_call *call, double progress, double total,
                          const char *text)
{
	json_t *params;

	if (!call->token)
		return;
	HOLD_LOCK(&call->lock);
	if (progress <= call->progress)
		progress = call->progress + 0.001;
	call->progress = progress;
	params = json_pack("{s:O, s:f}", "progressToken", call->token, "progress",
	                   progress);
	if (params && total > 0)
		(void)json_object_set_new(params, "total", json_real(total));
	if (params && text && dw_mcp_call_since(call, DW_MCP_2025_03_26))
		(void)json_object_set_new(params, "message",
		                          dw_json_text(text, strlen(text)));
	send_message(call, json_pack("{s:s, s:o}", "method", "notifications/progress",
	                             "params", params));
}

/* ---- cancelling ---- */

void dw_mcp_call_on_cancel(struct dw_mcp_call *call, void (*fn)(void *user),
                           void (*release)(void *user), void *user)
{
	bool cancelled;

	(void)pthread_mutex_lock(&call->lock);
	cancelled = call->cancelled;
	call->on_cancel = cancelled ? NULL : fn;
	call->release = release;
	call->user = user;
	(void)pthread_mutex_unlock(&call->lock);
	if (cancelled)
		fn(user);
}

void dw_mcp_call_cancel(struct dw_mcp_call *call)
{
	void (*fn)(void *user);
	void *user;

	(void)pthread_mutex_lock(&call->lock);
	fn = call->on_cancel;
	user = call->user;
	call->on_cancel = NULL;
	call->cancelled = true;
	call->over = true;
	(void)pthread_mutex_unlock(&call->lock);
	if (fn)
		fn(user);
}

/* Returns the next call to cancel, with a reference; NULL if no call is left. */
static struct dw_mcp_call *next_to_close(struct dw_mcp_peer *peer)
{
	struct dw_mcp_call *call;

	HOLD_LOCK(&peer->lock);
	peer->closed = true;
	for (call = LIST_FIRST(&peer->calls); call; call = LIST_NEXT(call, link))
		if (!call->closing)
			break;
	if (call) {
		call->closing = true;
		call->refs++;
	}
	return call;
}

void dw_mcp_peer_close(struct dw_mcp_peer *peer)
{
	struct dw_mcp_call *call;

	if (!peer)
		return;
	while ((call = next_to_close(peer))) {
		dw_mcp_call_cancel(call);
		dw_mcp_call_unref(call);
	}
	dw_mcp_peer_unref(peer);
}
