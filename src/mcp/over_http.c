/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/lock.h"
#include "http/headers.h"
#include "http/http.h"
#include "mcp/mcp_own.h"

/*
 * One message per POST. Since 2026-07-28 each POST is a peer of its own, and its headers
 * repeat parts of the message. In older revisions, initialize opens a session, which is
 * the peer.
 *
 * The reply is a JSON document if the first message for the client is the answer. If
 * another message comes first, the reply is a stream of events, which ends with the
 * answer. A client that hangs up cancels its call in every revision: events are not
 * stored, so the client could not fetch the answer later.
 *
 * The server sends nothing outside calls, so there is no stream for GET (405).
 */
#define SESSION_HEADER "Mcp-Session-Id"

struct dw_mcp_http {
	struct dw_mcp *mcp;
	struct dw_mcp_sessions *sessions;
};

/* A POST. Its exchange, its call and the hang-up watch hold references. */
struct post {
	atomic_uint refs;
	pthread_mutex_t lock;  /* protects x, and all below id */
	struct dw_exchange *x; /* NULL once the exchange is over */
	struct dw_mcp_peer *peer;
	bool own_peer;
	bool is_request;
	struct dw_mcp_message *msg; /* until the peer takes it */
	json_t *id;

	bool takes_events;
	bool waiting; /* the exchange is, or will be, suspended: resume it */
	bool streaming;
	struct dw_buf events; /* events until the reply streams */
	bool ended;           /* the answer is one of the events */
	char *answer;         /* the whole reply, instead of events */
	int status;
	bool done; /* no more messages follow */
};

struct dw_mcp_http *dw_mcp_http_create(struct dw_service *service)
{
	struct dw_mcp_http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->mcp = dw_mcp_create(service);
	http->sessions = dw_mcp_sessions_create();
	if (http->mcp && http->sessions)
		return http;
	dw_mcp_http_free(http);
	return NULL;
}

void dw_mcp_http_free(struct dw_mcp_http *http)
{
	if (!http)
		return;
	dw_mcp_sessions_free(http->sessions);
	dw_mcp_free(http->mcp);
	free(http);
}

/* ---- references ---- */

static void post_ref(void *user)
{
	struct post *post = user;

	atomic_fetch_add(&post->refs, 1);
}

static void post_unref(void *user)
{
	struct post *post = user;

	if (atomic_fetch_sub(&post->refs, 1) > 1)
		return;
	if (post->own_peer)
		dw_mcp_peer_close(post->peer);
	else if (post->peer)
		dw_mcp_peer_unref(post->peer);
	dw_mcp_message_free(post->msg);
	json_decref(post->id);
	dw_buf_finish(&post->events);
	free(post->answer);
	(void)pthread_mutex_destroy(&post->lock);
	free(post);
}

static void post_cancel(void *user)
{
	struct post *post = user;

	if (post->peer)
		dw_mcp_peer_cancel(post->peer, post->id);
}

static const struct dw_hangup_handler on_hangup = {post_cancel, post_ref, post_unref};

/* Called when the exchange is over. */
static void post_end(void *user)
{
	struct post *post = user;
	bool open;

	(void)pthread_mutex_lock(&post->lock);
	post->x = NULL;
	open = !post->done && !post->ended && !post->answer;
	(void)pthread_mutex_unlock(&post->lock);
	if (open)
		post_cancel(post);
	post_unref(post);
}

/* ---- messages for the client ---- */

/* The caller holds the lock. */
static void resume(struct post *post)
{
	if (!post->waiting)
		return;
	post->waiting = false;
	dw_exchange_resume(post->x);
}

static void add_event(struct post *post, const char *text, size_t len)
{
	autobuf struct dw_buf event;

	dw_buf_init(&event, SIZE_MAX / 2);
	(void)dw_buf_puts(&event, "event: message\ndata: ");
	(void)dw_buf_add(&event, text, len);
	(void)dw_buf_puts(&event, "\n\n");
	if (event.failed)
		return;
	if (post->streaming)
		dw_stream_add(post->x, event.data, event.len);
	else
		(void)dw_buf_add(&post->events, event.data, event.len);
}

static void on_send(void *user, struct dw_mcp_out *out)
{
	struct post *post = user;

	HOLD_LOCK(&post->lock);
	if (!post->x) {
		/* The client has hung up. */
	} else if (out->answer && !post->streaming && post->events.len == 0) {
		post->answer = TAKE_PTR(out->text);
		post->status = out->status;
		resume(post);
	} else if (post->takes_events) {
		add_event(post, out->text, out->len);
		post->ended = out->answer;
		if (post->streaming && out->answer)
			dw_stream_end(post->x);
		resume(post);
	}
	free(out->text);
}

static void on_done(void *user)
{
	struct post *post = user;

	(void)pthread_mutex_lock(&post->lock);
	post->done = true;
	if (post->x && post->streaming && !post->ended)
		dw_stream_end(post->x);
	if (post->x)
		resume(post);
	(void)pthread_mutex_unlock(&post->lock);
	post_unref(post);
}

/* Reply in the exchange's own thread, once there is a message. */
static void reply(struct dw_exchange *x)
{
	struct post *post = x->state;

	HOLD_LOCK(&post->lock);
	if (post->events.len > 0) {
		post->streaming = true;
		dw_reply_stream(x, "text/event-stream");
		dw_stream_add(x, post->events.data, post->events.len);
		if (post->ended || post->done)
			dw_stream_end(x);
	} else if (post->answer) {
		dw_reply_json(x, post->status, post->answer);
	} else if (post->is_request) {
		/* A cancelled call has no answer. */
		dw_reply(x, 200, "text/event-stream", "", 0);
	} else {
		dw_reply(x, 202, "application/json", "", 0);
	}
}

static void take(struct post *post)
{
	struct dw_mcp_sink sink = {.send = on_send, .done = on_done, .user = post};

	post_ref(post);
	dw_mcp_peer_take(post->peer, TAKE_PTR(post->msg), &sink);
}

static void take_offloaded(struct dw_exchange *x)
{
	take(x->state);
}

static void serve(struct dw_exchange *x, struct post *post)
{
	bool ready;

	if (post->is_request && dw_mcp_resources_slow(post->msg)) {
		dw_exchange_offload(x, take_offloaded, reply);
		return;
	}
	take(post);
	(void)pthread_mutex_lock(&post->lock);
	ready = post->events.len > 0 || post->answer || post->done;
	post->waiting = !ready;
	(void)pthread_mutex_unlock(&post->lock);
	if (ready)
		reply(x);
	else
		dw_exchange_suspend(x, reply);
}

/* ---- the peer ---- */

static void refuse(struct dw_exchange *x, int status, const json_t *id,
                   enum dw_mcp_code code, const char *text)
{
	autofree char *error = NULL;
	struct dw_mcp_problem why;

	(void)dw_mcp_refuse(&why, code, status, NULL, "%s", text);
	error = dw_mcp_error(id, &why);
	dw_reply_json(x, status, error);
}

/* initialize opens a session; every other message names one. */
static int find_session(struct dw_exchange *x, struct post *post)
{
	struct dw_mcp_http *http = x->context->mcp;
	const char *session = dw_exchange_header(x, SESSION_HEADER);
	const struct dw_mcp_message *msg = post->msg;
	char id[DW_ID_MAX];

	if (msg->method && strcmp(msg->method, "initialize") == 0) {
		post->peer = dw_mcp_peer_create(http->mcp, &x->caller);
		if (!post->peer ||
		    dw_mcp_sessions_add(http->sessions, post->peer, id) < 0) {
			post->own_peer = post->peer != NULL;
			refuse(x, 500, msg->id, DW_MCP_INTERNAL, "out of memory");
			return -1;
		}
		(void)dw_mcp_peer_ref(post->peer);
		dw_reply_header(x, SESSION_HEADER, id);
		return 0;
	}
	if (!session) {
		refuse(x, 400, msg->id, DW_MCP_REQUEST,
		       "the header " SESSION_HEADER " is missing; begin with initialize, "
		       "or send params._meta as in revision 2026-07-28");
		return -1;
	}
	post->peer = dw_mcp_sessions_find(http->sessions, session, &x->caller);
	if (post->peer)
		return 0;
	refuse(x, 404, msg->id, DW_MCP_REQUEST,
	       "the session is unknown or has expired; begin with initialize");
	return -1;
}

static const char *get_header(void *user, const char *name)
{
	return dw_exchange_header(user, name);
}

static int find_peer(struct dw_exchange *x, struct post *post)
{
	const struct dw_mcp_headers headers = {.get = get_header, .user = x};
	struct dw_mcp_http *http = x->context->mcp;
	autofree char *error = NULL;
	struct dw_mcp_problem why;

	if (!dw_mcp_headers_modern(&headers, post->msg))
		return find_session(x, post);
	if (post->is_request && dw_mcp_headers_check(&headers, post->msg, &why) < 0) {
		error = dw_mcp_error(post->msg->id, &why);
		json_decref(why.data);
		dw_reply_json(x, why.status, error);
		return -1;
	}
	post->peer = dw_mcp_peer_create(http->mcp, &x->caller);
	post->own_peer = true;
	if (post->peer)
		return 0;
	refuse(x, 500, post->msg->id, DW_MCP_INTERNAL, "out of memory");
	return -1;
}

/* ---- the routes ---- */

static bool accepts(struct dw_exchange *x, const char *type)
{
	const char *accept = dw_exchange_header(x, "Accept");

	return accept &&
	       (dw_headers_accepts(accept, type) || dw_headers_accepts(accept, "*/*"));
}

static int check_types(struct dw_exchange *x)
{
	const char *type = dw_exchange_header(x, "Content-Type");

	if (!type || !dw_headers_accepts(type, "application/json")) {
		refuse(x, 415, NULL, DW_MCP_REQUEST,
		       "send a message as Content-Type: application/json");
		return -1;
	}
	if (dw_exchange_header(x, "Accept") && !accepts(x, "application/json")) {
		refuse(x, 406, NULL, DW_MCP_REQUEST,
		       "send Accept: application/json, text/event-stream");
		return -1;
	}
	return 0;
}

void dw_mcp_http_post(struct dw_exchange *x)
{
	autofree char *error = NULL;
	struct post *post;

	if (check_types(x) < 0)
		return;
	post = calloc(1, sizeof(*post));
	if (!post) {
		dw_reply_json(x, 500, NULL);
		return;
	}
	(void)pthread_mutex_init(&post->lock, NULL);
	dw_buf_init(&post->events, SIZE_MAX / 2);
	post->refs = 1;
	post->x = x;
	post->takes_events = accepts(x, "text/event-stream");
	x->state = post;
	x->free_state = post_end;
	x->on_hangup = &on_hangup;
	if (dw_mcp_parse(x->body.data ? x->body.data : "", x->body.len, &post->msg,
	                 &error) < 0) {
		dw_reply_json(x, 400, error);
		return;
	}
	post->is_request = post->msg->kind == DW_MCP_IS_REQUEST;
	post->id = json_deep_copy(post->msg->id);
	if (find_peer(x, post) == 0)
		serve(x, post);
}

void dw_mcp_http_delete(struct dw_exchange *x)
{
	const char *session = dw_exchange_header(x, SESSION_HEADER);
	struct dw_mcp_http *http = x->context->mcp;

	if (!session)
		refuse(x, 400, NULL, DW_MCP_REQUEST,
		       "the header " SESSION_HEADER " is missing");
	else if (!dw_mcp_sessions_end(http->sessions, session, &x->caller))
		refuse(x, 404, NULL, DW_MCP_REQUEST,
		       "the session is unknown or has expired");
	else
		dw_reply(x, 204, "application/json", "", 0);
}
