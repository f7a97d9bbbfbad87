/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "server/door.h"
#include "server/log.h"
#include "server/router.h"
#include "server/watch.h"

#define HEADERS_MAX 8
#define CONNECTION_BYTES (64U << 10) /* for a request's head, and MHD's own */
#define ASIDE_MAX 8
#define STREAM_BLOCK (64U << 10)

struct dw_http {
	struct MHD_Daemon *mhd;
	struct dw_door *door;
	struct dw_entrance entrance;
	int listen_fd; /* once it is ours again; -1 before */
};

/* An exchange, and how it stands with MHD. */
struct own {
	struct dw_exchange x; /* the first */
	struct dw_http *http;
	struct MHD_Connection *conn;
	const struct dw_route *route;
	uint64_t arrived_ms;
	uint64_t body_max;
	uint64_t body_by_ms;
	bool too_large;
	int status;    /* of the reply, 0 before */
	bool answered; /* it has been queued */
	struct {
		char name[32];
		char value[128];
	} headers[HEADERS_MAX];
	size_t n_headers;
	struct dw_watch_hang_up *watch;
	void (*then)(struct dw_exchange *x);
	void (*aside)(struct dw_exchange *x);

	pthread_mutex_t lock; /* of all below, which other threads touch */
	bool asleep, woken;
	struct dw_buf stream;
	size_t sent; /* of the stream */
	bool stream_over;
};

static struct own *own_of(struct dw_exchange *x)
{
	return (struct own *)x;
}

struct dw_service *dw_exchange_service(struct dw_exchange *x)
{
	return x->door->service;
}

const char *dw_exchange_header(struct dw_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(own_of(x)->conn, MHD_HEADER_KIND, name);
}

const char *dw_exchange_query(struct dw_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(own_of(x)->conn, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- replies ---- */

void dw_reply_header(struct dw_exchange *x, const char *name, const char *value)
{
	struct own *own = own_of(x);

	if (own->n_headers == HEADERS_MAX)
		return;
	(void)snprintf(own->headers[own->n_headers].name, sizeof(own->headers[0].name),
	               "%s", name);
	(void)snprintf(own->headers[own->n_headers].value, sizeof(own->headers[0].value),
	               "%s", value);
	own->n_headers++;
}

static void send_response(struct own *own, int status, const char *type,
                          struct MHD_Response *response)
{
	if (!response)
		return; /* the connection is closed for want of an answer */
	(void)MHD_add_response_header(response, "Content-Type", type);
	(void)MHD_add_response_header(response, "Cache-Control", "no-store");
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	(void)MHD_add_response_header(response, "X-Request-Id", own->x.id);
	if (own->x.traceparent[0] != '\0')
		(void)MHD_add_response_header(response, "traceparent",
		                              own->x.traceparent);
	for (size_t i = 0; i < own->n_headers; i++)
		(void)MHD_add_response_header(response, own->headers[i].name,
		                              own->headers[i].value);
	if (dw_service_draining(own->x.door->service))
		(void)MHD_add_response_header(response, "Connection", "close");
	own->status = status;
	own->answered = MHD_queue_response(own->conn, (unsigned)status, response) ==
	                MHD_YES;
	MHD_destroy_response(response);
}

void dw_reply(struct dw_exchange *x, int status, const char *type, const char *text,
              size_t len)
{
	send_response(own_of(x), status, type,
	              MHD_create_response_from_buffer(len, (void *)(uintptr_t)text,
	                                              MHD_RESPMEM_MUST_COPY));
}

void dw_reply_refusal(struct dw_exchange *x, const struct dw_refusal *why)
{
	autofree char *text = dw_refusal_to_json(why);
	char seconds[16];

	if (why->retry_after_s > 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", why->retry_after_s);
		dw_reply_header(x, "Retry-After", seconds);
	}
	if (why->status == 401)
		dw_reply_header(x, "WWW-Authenticate", "Bearer realm=\"dewar\"");
	if (!text)
		text = strdup("{\"error\":{\"code\":\"internal\"}}");
	dw_reply(x, why->status, "application/json", text ? text : "",
	         text ? strlen(text) : 0);
}

void dw_reply_json(struct dw_exchange *x, int status, const char *text)
{
	struct dw_refusal why;

	if (text) {
		dw_reply(x, status, "application/json", text, strlen(text));
		return;
	}
	(void)dw_refuse(&why, 500, "", "no memory for the reply");
	dw_reply_refusal(x, &why);
}

/* ---- sleeping and waking ---- */

/* Under the lock. */
static void fall_asleep(struct own *own)
{
	own->asleep = true;
	MHD_suspend_connection(own->conn);
}

static void wake_up(struct own *own)
{
	if (!own->asleep)
		return;
	own->asleep = false;
	MHD_resume_connection(own->conn);
}

/* A client that hangs up ends its run. */
static void watch(struct own *own)
{
	const union MHD_ConnectionInfo *info;

	if (!own->x.task || own->x.detached || own->watch)
		return;
	info = MHD_get_connection_info(own->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		own->watch = dw_watch_start(info->connect_fd, own->x.task);
}

void dw_exchange_sleep(struct dw_exchange *x, void (*fn)(struct dw_exchange *x))
{
	struct own *own = own_of(x);
	bool woken;

	own->then = fn;
	watch(own);
	(void)pthread_mutex_lock(&own->lock);
	woken = own->woken;
	own->woken = false;
	if (!woken)
		fall_asleep(own);
	(void)pthread_mutex_unlock(&own->lock);
	if (woken) {
		own->then = NULL;
		fn(x);
	}
}

void dw_exchange_wake(struct dw_exchange *x)
{
	struct own *own = own_of(x);

	(void)pthread_mutex_lock(&own->lock);
	own->woken = !own->asleep;
	wake_up(own);
	(void)pthread_mutex_unlock(&own->lock);
}

/* ---- in pieces ---- */

static ssize_t read_stream(void *user, uint64_t at, char *buf, size_t max)
{
	struct own *own = user;
	bool over = false;
	size_t n;

	(void)at;
	(void)pthread_mutex_lock(&own->lock);
	n = own->stream.len - own->sent;
	if (n > max)
		n = max;
	if (n > 0) {
		memcpy(buf, own->stream.data + own->sent, n);
		own->sent += n;
		if (own->sent == own->stream.len) {
			own->sent = 0;
			dw_buf_finish(&own->stream);
			dw_buf_init(&own->stream, SIZE_MAX / 2);
		}
	} else if (!own->stream_over) {
		fall_asleep(own);
	} else {
		over = true;
	}
	(void)pthread_mutex_unlock(&own->lock);
	return over ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)n;
}

void dw_reply_stream(struct dw_exchange *x, const char *type)
{
	struct own *own = own_of(x);

	watch(own);
	dw_reply_header(x, "X-Accel-Buffering", "no");
	send_response(own, 200, type,
	              MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
	                                                read_stream, own, NULL));
}

void dw_stream_add(struct dw_exchange *x, const void *data, size_t len)
{
	struct own *own = own_of(x);

	(void)pthread_mutex_lock(&own->lock);
	(void)dw_buf_add(&own->stream, data, len);
	wake_up(own);
	(void)pthread_mutex_unlock(&own->lock);
}

void dw_stream_end(struct dw_exchange *x)
{
	struct own *own = own_of(x);

	(void)pthread_mutex_lock(&own->lock);
	own->stream_over = true;
	wake_up(own);
	(void)pthread_mutex_unlock(&own->lock);
}

/* ---- aside ---- */

static pthread_mutex_t aside_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_aside;

static void *work_aside(void *user)
{
	struct own *own = user;

	own->aside(&own->x);
	(void)pthread_mutex_lock(&aside_lock);
	n_aside--;
	(void)pthread_mutex_unlock(&aside_lock);
	dw_exchange_wake(&own->x);
	return NULL;
}

void dw_exchange_aside(struct dw_exchange *x, void (*fn)(struct dw_exchange *x),
                       void (*then)(struct dw_exchange *x))
{
	struct own *own = own_of(x);
	struct dw_refusal why;
	pthread_t thread;
	bool room;

	(void)pthread_mutex_lock(&aside_lock);
	room = n_aside < ASIDE_MAX;
	n_aside += room;
	(void)pthread_mutex_unlock(&aside_lock);
	own->aside = fn;
	if (room && pthread_create(&thread, NULL, work_aside, own) == 0) {
		(void)pthread_detach(thread);
		dw_exchange_sleep(x, then);
		return;
	}
	(void)pthread_mutex_lock(&aside_lock);
	n_aside -= room;
	(void)pthread_mutex_unlock(&aside_lock);
	(void)dw_refuse(&why, 429, "try again later", "too many ask for such things now");
	why.retry_after_s = 1;
	dw_reply_refusal(x, &why);
}

/* ---- what MHD calls ---- */

static struct own *new_exchange(struct dw_http *http, struct MHD_Connection *conn,
                                const char *url, const char *method)
{
	struct own *own = calloc(1, sizeof(*own));
	const char *trace;

	if (!own)
		return NULL;
	(void)pthread_mutex_init(&own->lock, NULL);
	own->http = http;
	own->conn = conn;
	own->x.door = http->door;
	own->x.path = url;
	own->x.method = strcmp(method, "HEAD") == 0 ? "GET" : method;
	own->arrived_ms = dw_now_ms();
	dw_id_make(own->x.id);
	(void)pthread_rwlock_rdlock(&http->door->lock);
	own->body_max = http->door->config->http.body_bytes;
	own->body_by_ms = own->arrived_ms + http->door->config->http.body_s * 1000ULL;
	(void)pthread_rwlock_unlock(&http->door->lock);
	dw_buf_init(&own->x.body, own->body_max);
	dw_buf_init(&own->stream, SIZE_MAX / 2);
	trace = dw_exchange_header(&own->x, "traceparent");
	if (trace && strlen(trace) < sizeof(own->x.traceparent) &&
	    strspn(trace, "0123456789abcdef-") == strlen(trace))
		(void)snprintf(own->x.traceparent, sizeof(own->x.traceparent), "%s",
		               trace);
	return own;
}

/* The head is there: is there any use in reading the rest? */
static int check_head(struct own *own, struct dw_refusal *why)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(own->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	const char *length = dw_exchange_header(&own->x, "Content-Length");
	struct dw_refusal no_route;

	own->route = dw_route_find(&own->x, &no_route);
	own->x.no_key = own->route && own->route->open;
	if (dw_door_check(own->x.door, &own->http->entrance, info ? info->connect_fd : -1,
	                  &own->x, why) < 0)
		return -1;
	if (!own->route) {
		*why = no_route;
		return -1;
	}
	if (own->route->scope & ~own->x.caller.grant.scopes)
		return dw_refuse(why, 403, "`dewar keys add --scope` makes one that may",
		                 "this key may not do that");
	if (length && strtoull(length, NULL, 10) > own->body_max)
		return dw_refuse(why, 413, "the config has http.body_bytes",
		                 "the request is larger than %llu bytes",
		                 (unsigned long long)own->body_max);
	return 0;
}

/* It has its answer, or will be called again when it wakes up. */
static enum MHD_Result answer(const struct own *own)
{
	return own->answered || own->then ? MHD_YES : MHD_NO;
}

static enum MHD_Result take_body(struct own *own, const char *data, size_t len)
{
	if (dw_now_ms() > own->body_by_ms)
		return MHD_NO; /* who is that slow gets no answer */
	if (own->too_large || dw_buf_add(&own->x.body, data, len) < 0)
		own->too_large = true;
	return MHD_YES;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *conn,
                                  const char *url, const char *method,
                                  const char *version, const char *data, size_t *len,
                                  void **state)
{
	struct own *own = *state;
	struct dw_refusal why;
	void (*then)(struct dw_exchange * x);

	(void)version;
	if (!own) {
		*state = own = new_exchange(user, conn, url, method);
		if (!own)
			return MHD_NO;
		if (check_head(own, &why) == 0)
			return MHD_YES;
		dw_reply_refusal(&own->x, &why);
		return answer(own);
	}
	if (*len > 0) {
		size_t n = *len;

		*len = 0;
		return take_body(own, data, n);
	}
	then = own->then;
	if (then) {
		own->then = NULL;
		then(&own->x);
	} else if (own->too_large) {
		(void)dw_refuse(&why, 413, "the config has http.body_bytes",
		                "the request is larger than %llu bytes",
		                (unsigned long long)own->body_max);
		dw_reply_refusal(&own->x, &why);
	} else {
		own->route->fn(&own->x);
	}
	return answer(own);
}

static void on_completed(void *user, struct MHD_Connection *conn, void **state,
                         enum MHD_RequestTerminationCode how)
{
	struct own *own = *state;
	char status[16], ms[32];

	(void)user, (void)conn;
	if (!own)
		return;
	*state = NULL;
	dw_watch_stop(own->watch);
	if (own->x.task) {
		dw_task_mute(own->x.task);
		if (!own->x.detached && how != MHD_REQUEST_TERMINATED_COMPLETED_OK)
			dw_task_cancel(own->x.task);
		dw_task_unref(own->x.task);
	}
	if (own->x.free_state)
		own->x.free_state(own->x.state);

	(void)snprintf(status, sizeof(status), "%d", own->status);
	(void)snprintf(ms, sizeof(ms), "%llu",
	               (unsigned long long)(dw_now_ms() - own->arrived_ms));
	dw_log(own->status >= 400 ? DW_LOG_INFO : DW_LOG_DEBUG, "http", "request",
	       own->x.id, "method", own->x.method, "path", own->x.path, "status",
	       own->status ? status : NULL, "ms", ms, "who",
	       own->x.caller.who[0] ? own->x.caller.who : NULL, "traceparent",
	       own->x.traceparent[0] ? own->x.traceparent : NULL, NULL);
	if (own->status > 0)
		dw_metrics_reply(dw_service_metrics(own->x.door->service), own->status);
	dw_buf_finish(&own->x.body);
	dw_buf_finish(&own->stream);
	/* Who woke us may not have let go of it yet. */
	(void)pthread_mutex_lock(&own->lock);
	(void)pthread_mutex_unlock(&own->lock);
	(void)pthread_mutex_destroy(&own->lock);
	free(own);
}

static void on_log(void *user, const char *fmt, va_list ap)
{
	char text[512];

	(void)user;
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): MHD gives it */
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	dw_log(DW_LOG_DEBUG, "libmicrohttpd", "text", text, NULL);
}

int dw_http_new(struct dw_door *door, const struct dw_entrance *entrance, int listen_fd,
                struct dw_http **ret, struct dw_error *err)
{
	struct dw_http *http = calloc(1, sizeof(*http));

	if (!http) {
		(void)close(listen_fd);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "serve %s", entrance->address);
	}
	http->door = door;
	http->entrance = *entrance;
	http->listen_fd = -1;
	http->mhd = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD |
	                                     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
	                                     MHD_USE_ERROR_LOG,
	                             0, NULL, NULL, on_request, http,
	                             MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
	                             MHD_OPTION_LISTEN_SOCKET, listen_fd,
	                             MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
	                             MHD_OPTION_CONNECTION_LIMIT,
	                             door->config->http.connections,
	                             MHD_OPTION_CONNECTION_TIMEOUT,
	                             door->config->http.idle_s,
	                             MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	                             (size_t)CONNECTION_BYTES,
	                             MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (!http->mhd) {
		(void)close(listen_fd);
		free(http);
		return dw_fail(err, DW_E_INTERNAL, errno, "serve %s", entrance->address);
	}
	*ret = http;
	return 0;
}

void dw_http_quiesce(struct dw_http *http)
{
	http->listen_fd = MHD_quiesce_daemon(http->mhd);
	dw_fd_close(&http->listen_fd);
}

void dw_http_free(struct dw_http *http)
{
	if (!http)
		return;
	MHD_stop_daemon(http->mhd);
	free(http);
}
