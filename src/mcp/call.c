/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/call.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "mcp/peer.h"

/*
 * Who holds what: a call holds its peer; whoever serves the call holds the call;
 * the peer's list holds nothing, and a call leaves it when its last reference goes.
 * A call that is looked up there may be on its way out: it is taken only if it
 * still has a reference.
 */
struct dw_mcp_call {
	struct dw_mcp_peer *peer;
	struct dw_mcp_call *next, *prev; /* peer->lock */
	unsigned refs;                   /* peer->lock */
	bool told;                       /* peer->lock; that the peer is closed */

	struct dw_mcp_message *msg;
	char version[16];
	bool modern;
	const json_t *client;
	json_t *client_owned;
	const json_t *token; /* for progress, or NULL */

	pthread_mutex_t lock; /* of all below, and held while the sink is sent to */
	bool over;            /* answered, or cancelled */
	bool cancelled;
	double progress;
	void (*on_cancel)(void *user);
	void (*release)(void *user);
	void *user;
	struct dw_mcp_sink sink;
};

/* ---- life and death ---- */

struct dw_mcp_peer *dw_mcp_peer_ref(struct dw_mcp_peer *peer)
{
	(void)pthread_mutex_lock(&peer->lock);
	peer->refs++;
	(void)pthread_mutex_unlock(&peer->lock);
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

static void send_text(const struct dw_mcp_sink *sink, char *text, bool answer, int status)
{
	struct dw_mcp_out out = {.text = text, .answer = answer, .status = status};

	/* Without memory there is still one thing to say. */
	if (!text && answer)
		out.text = strdup(
			"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
			"\"message\":\"out of memory\"}}");
	if (!out.text)
		return;
	out.len = strlen(out.text);
	sink->send(sink->user, &out);
}

/* A request that does not even become a call. */
static struct dw_mcp_call *reject(struct dw_mcp_message *msg,
                                  const struct dw_mcp_sink *sink, enum dw_mcp_code code,
                                  const char *text)
{
	struct dw_mcp_problem why;

	(void)dw_mcp_refuse(&why, code, 400, NULL, "%s", text);
	send_text(sink, dw_mcp_error(msg->id, &why), true, why.status);
	dw_mcp_message_free(msg);
	sink->done(sink->user);
	return NULL;
}

static struct dw_mcp_call *look_up(struct dw_mcp_peer *peer, const json_t *id)
{
	for (struct dw_mcp_call *call = peer->calls; call; call = call->next)
		if (json_equal(call->msg->id, id))
			return call;
	return NULL;
}

static const json_t *find_token(const json_t *meta)
{
	const json_t *token = json_object_get(meta, "progressToken");

	return json_is_string(token) || json_is_integer(token) ? token : NULL;
}

struct dw_mcp_call *dw_mcp_call_create(struct dw_mcp_peer *peer,
                                       struct dw_mcp_message *msg,
                                       const struct dw_mcp_sink *sink)
{
	struct dw_mcp_call *call = calloc(1, sizeof(*call));
	const char *refused = NULL;

	if (!call)
		return reject(msg, sink, DW_MCP_INTERNAL, "out of memory");
	*call = (struct dw_mcp_call){
		.peer = peer,
		.refs = 1,
		.msg = msg,
		.modern = msg->version != NULL,
		.token = find_token(msg->meta),
		.progress = -1,
		.sink = *sink,
	};
	(void)pthread_mutex_init(&call->lock, NULL);

	(void)pthread_mutex_lock(&peer->lock);
	memcpy(call->version, peer->version, sizeof(call->version));
	if (call->modern) {
		memcpy(call->version, DW_MCP_2026_07_28, sizeof(DW_MCP_2026_07_28));
		call->client = json_object_get(msg->meta,
		                               DW_MCP_META "clientCapabilities");
	} else {
		call->client = call->client_owned = json_incref(peer->client);
	}
	if (peer->closed)
		refused = "the connection is closed";
	else if (look_up(peer, msg->id))
		refused = "a request with this id is still under way";
	if (!refused) {
		call->next = peer->calls;
		if (call->next)
			call->next->prev = call;
		peer->calls = call;
		peer->n_calls++;
		peer->refs++;
	}
	(void)pthread_mutex_unlock(&peer->lock);
	if (!refused)
		return call;

	json_decref(call->client_owned);
	(void)pthread_mutex_destroy(&call->lock);
	free(call);
	return reject(msg, sink, DW_MCP_REQUEST, refused);
}

struct dw_mcp_call *dw_mcp_call_ref(struct dw_mcp_call *call)
{
	(void)pthread_mutex_lock(&call->peer->lock);
	call->refs++;
	(void)pthread_mutex_unlock(&call->peer->lock);
	return call;
}

void dw_mcp_call_unref(struct dw_mcp_call *call)
{
	struct dw_mcp_peer *peer = call->peer;
	bool last;

	(void)pthread_mutex_lock(&peer->lock);
	last = --call->refs == 0;
	if (last) {
		if (call->prev)
			call->prev->next = call->next;
		else
			peer->calls = call->next;
		if (call->next)
			call->next->prev = call->prev;
		peer->n_calls--;
	}
	(void)pthread_mutex_unlock(&peer->lock);
	if (!last)
		return;

	if (call->release)
		call->release(call->user);
	call->sink.done(call->sink.user);
	dw_mcp_message_free(call->msg);
	json_decref(call->client_owned);
	(void)pthread_mutex_destroy(&call->lock);
	free(call);
	dw_mcp_peer_unref(peer);
}

struct dw_mcp_call *dw_mcp_call_find(struct dw_mcp_peer *peer, const json_t *id)
{
	struct dw_mcp_call *call;

	(void)pthread_mutex_lock(&peer->lock);
	call = look_up(peer, id);
	if (call)
		call->refs++;
	(void)pthread_mutex_unlock(&peer->lock);
	return call;
}

/* ---- what it is ---- */

struct dw_mcp_peer *dw_mcp_call_peer(const struct dw_mcp_call *call)
{
	return call->peer;
}

struct dw_service *dw_mcp_call_service(const struct dw_mcp_call *call)
{
	return call->peer->mcp->service;
}

struct dw_mcp_keepalive *dw_mcp_call_pulse(const struct dw_mcp_call *call)
{
	return call->peer->mcp->pulse;
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
	bool over;

	(void)pthread_mutex_lock(&call->lock);
	over = call->over;
	(void)pthread_mutex_unlock(&call->lock);
	return over;
}

/* ---- what is said ---- */

static void answer(struct dw_mcp_call *call, char *text, int status)
{
	(void)pthread_mutex_lock(&call->lock);
	if (call->over)
		free(text);
	else
		send_text(&call->sink, text, true, status);
	call->over = true;
	(void)pthread_mutex_unlock(&call->lock);
}

/* Who we are goes with every modern answer. */
static void dress(json_t *result)
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
	json_t *root;

	if (call->modern && result)
		dress(result);
	root = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", call->msg->id,
	                 "result", result);
	answer(call, dw_mcp_dump(root), 200);
	json_decref(root);
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
	/* Before 2026-07-28 it was HTTP that had to work, and nothing else. */
	answer(call, dw_mcp_error(call->msg->id, why), call->modern ? why->status : 200);
	dw_mcp_problem_finish(why);
}

static void send_locked(struct dw_mcp_call *call, json_t *message)
{
	char *text = NULL;

	if (message && !call->over) {
		(void)json_object_set_new(message, "jsonrpc", json_string("2.0"));
		text = dw_mcp_dump(message);
	}
	if (text)
		send_text(&call->sink, text, false, 0);
	json_decref(message);
}

void dw_mcp_call_send(struct dw_mcp_call *call, json_t *message)
{
	(void)pthread_mutex_lock(&call->lock);
	send_locked(call, message);
	(void)pthread_mutex_unlock(&call->lock);
}

void dw_mcp_call_progress(struct dw_mcp_call *call, double progress, double total,
                          const char *text)
{
	json_t *params;

	if (!call->token)
		return;
	(void)pthread_mutex_lock(&call->lock);
	if (progress <= call->progress)
		progress = call->progress + 0.001;
	call->progress = progress;
	params = json_pack("{s:O, s:f}", "progressToken", call->token, "progress",
	                   progress);
	if (params && total > 0)
		(void)json_object_set_new(params, "total", json_real(total));
	if (params && text && dw_mcp_call_since(call, DW_MCP_2025_03_26))
		(void)json_object_set_new(params, "message",
		                          dw_mcp_string(text, strlen(text)));
	send_locked(call, json_pack("{s:s, s:o}", "method", "notifications/progress",
	                            "params", params));
	(void)pthread_mutex_unlock(&call->lock);
}

/* ---- what ends it early ---- */

void dw_mcp_call_on_cancel(struct dw_mcp_call *call, void (*fn)(void *user),
                           void (*release)(void *user), void *user)
{
	bool now;

	(void)pthread_mutex_lock(&call->lock);
	now = call->cancelled;
	call->on_cancel = now ? NULL : fn;
	call->release = release;
	call->user = user;
	(void)pthread_mutex_unlock(&call->lock);
	if (now)
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

/* The next one that nobody told yet, with a reference; or NULL. */
static struct dw_mcp_call *next_open(struct dw_mcp_peer *peer)
{
	struct dw_mcp_call *call;

	(void)pthread_mutex_lock(&peer->lock);
	peer->closed = true;
	for (call = peer->calls; call && call->told; call = call->next)
		;
	if (call) {
		call->told = true;
		call->refs++;
	}
	(void)pthread_mutex_unlock(&peer->lock);
	return call;
}

void dw_mcp_peer_close(struct dw_mcp_peer *peer)
{
	struct dw_mcp_call *call;

	if (!peer)
		return;
	while ((call = next_open(peer))) {
		dw_mcp_call_cancel(call);
		dw_mcp_call_unref(call);
	}
	dw_mcp_peer_unref(peer);
}
