/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/lock.h"
#include "daemon/log.h"
#include "http/http_own.h"

#define CONNECTION_BYTES (64U << 10) /* a request's head, and MHD's own data */
#define REPLIES_TIMEOUT_MS 5000U

struct dw_http {
	struct MHD_Daemon *mhd;
	struct dw_http_context *context;
	struct dw_listener listener;
	int listen_fd; /* set by dw_http_quiesce(): MHD's thread uses it to the end */
	pthread_mutex_t lock;
	pthread_cond_t none_open;
	unsigned open; /* exchanges whose reply is not sent yet */
};

/* The deadline of a connection that sends no request. */
static uint64_t idle_deadline(struct dw_http *http)
{
	uint64_t idle_ms;

	(void)pthread_rwlock_rdlock(&http->context->lock);
	idle_ms = http->context->config->http.idle_s * 1000ULL;
	(void)pthread_rwlock_unlock(&http->context->lock);
	return dw_now_ms() + idle_ms;
}

static struct dw_exchange_own *new_exchange(struct dw_http *http,
                                            struct MHD_Connection *conn, const char *url,
                                            const char *method)
{
	struct dw_exchange_own *own = calloc(1, sizeof(*own));
	const char *trace;

	if (!own || dw_id_make(own->x.id, NULL) < 0) {
		free(own);
		return NULL;
	}
	(void)pthread_mutex_init(&own->lock, NULL);
	own->http = http;
	own->conn = conn;
	own->x.context = http->context;
	own->x.path = url;
	own->x.method = strcmp(method, "HEAD") == 0 ? "GET" : method;
	own->arrived_ms = dw_now_ms();
	(void)pthread_mutex_lock(&http->lock);
	http->open++;
	(void)pthread_mutex_unlock(&http->lock);
	(void)pthread_rwlock_rdlock(&http->context->lock);
	own->body_max = http->context->config->http.body_bytes;
	own->body_by_ms = own->arrived_ms + http->context->config->http.body_s * 1000ULL;
	(void)pthread_rwlock_unlock(&http->context->lock);
	dw_buf_init(&own->x.body, own->body_max);
	dw_buf_init(&own->stream, SIZE_MAX / 2);
	trace = dw_exchange_header(&own->x, "traceparent");
	if (trace && strlen(trace) < sizeof(own->x.traceparent) &&
	    strspn(trace, "0123456789abcdef-") == strlen(trace))
		(void)snprintf(own->x.traceparent, sizeof(own->x.traceparent), "%s",
		               trace);
	return own;
}

struct header_counts {
	unsigned hosts, lengths, codings;
};

static enum MHD_Result count_header(void *user, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
	struct header_counts *count = user;

	(void)kind, (void)value;
	count->hosts += strcasecmp(name, "Host") == 0;
	count->lengths += strcasecmp(name, "Content-Length") == 0;
	count->codings += strcasecmp(name, "Transfer-Encoding") == 0;
	return MHD_YES;
}

/*
 * Refuse repeated Host or length headers. A proxy in front of us may use the other one of
 * the two: it would send the request to another server, or see another end of the body,
 * and so let a second request pass unseen.
 */
static int check_repeated(struct dw_exchange_own *own, struct dw_api_error *why)
{
	struct header_counts count = {0};

	(void)MHD_get_connection_values(own->conn, MHD_HEADER_KIND, count_header, &count);
	if (count.hosts <= 1 && count.lengths + count.codings <= 1)
		return 0;
	dw_reply_header(&own->x, "Connection", "close");
	return dw_api_fail(why, 400, "", "the request has two %s",
	                   count.hosts > 1 ? "Host headers" : "headers for its length");
}

static int fail_too_large(const struct dw_exchange_own *own, struct dw_api_error *why)
{
	return dw_api_fail(why, 413,
	                   "send less, or raise http.body_bytes in the daemon's config",
	                   "the request body is larger than %llu bytes",
	                   (unsigned long long)own->body_max);
}

/* Refuse a request, where possible, before its body is read. */
static int check_head(struct dw_exchange_own *own, struct dw_api_error *why)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(own->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	const char *length = dw_exchange_header(&own->x, "Content-Length");
	struct dw_api_error no_route;

	if (check_repeated(own, why) < 0)
		return -1;
	own->route = dw_route_find(&own->x, &no_route);
	own->x.no_key = own->route && own->route->open;
	if (dw_auth_check(own->x.context, &own->http->listener,
	                  info ? info->connect_fd : -1, &own->x, why) < 0)
		return -1;
	if (!own->route) {
		*why = no_route;
		return -1;
	}
	if (own->route->scope & ~own->x.caller.grant.scopes)
		return dw_api_fail(why, 403, "create a key with `dewar keys add --scope`",
		                   "the key lacks the scope for this");
	if (length && strtoull(length, NULL, 10) > own->body_max)
		return fail_too_large(own, why);
	return 0;
}

/* Tell MHD to go on if there is a reply, or a suspended exchange that will reply. */
static enum MHD_Result mhd_result(const struct dw_exchange_own *own)
{
	return own->answered || own->then ? MHD_YES : MHD_NO;
}

static enum MHD_Result take_body(struct dw_exchange_own *own, const char *data,
                                 size_t len)
{
	if (dw_now_ms() > own->body_by_ms)
		return MHD_NO; /* too slow: close it without a reply */
	if (own->too_large || own->no_room)
		return MHD_YES;
	own->no_room = !dw_service_claim(own->x.context->service, len);
	if (!own->no_room) {
		own->x.claimed += len;
		own->too_large = dw_buf_add(&own->x.body, data, len) < 0;
	}
	if (own->too_large || own->no_room)
		dw_exchange_drop_body(&own->x); /* the rest is ignored */
	return MHD_YES;
}

/* Called when a connection begins or ends; *state is its timeout. */
static void on_connection(void *user, struct MHD_Connection *conn, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (what == MHD_CONNECTION_NOTIFY_STARTED && info) {
		*state = dw_request_timeout_start(info->connect_fd, idle_deadline(user));
	} else if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		dw_request_timeout_stop(*state);
		*state = NULL;
	}
}

static void set_deadline(struct MHD_Connection *conn, uint64_t deadline_ms)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (info)
		dw_request_timeout_set(info->socket_context, deadline_ms);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *conn,
                                  const char *url, const char *method,
                                  const char *version, const char *data, size_t *len,
                                  void **state)
{
	struct dw_exchange_own *own = *state;
	struct dw_api_error why;
	void (*then)(struct dw_exchange * x);

	(void)version;
	if (!own) {
		*state = own = new_exchange(user, conn, url, method);
		if (!own)
			return MHD_NO;
		set_deadline(conn, own->body_by_ms);
		if (check_head(own, &why) == 0)
			return MHD_YES;
		dw_reply_error(&own->x, &why);
		return mhd_result(own);
	}
	if (*len > 0) {
		size_t n = *len;

		*len = 0;
		return take_body(own, data, n);
	}
	set_deadline(conn, 0);
	then = own->then;
	if (then) {
		own->then = NULL;
		then(&own->x);
	} else if (own->too_large) {
		(void)fail_too_large(own, &why);
		dw_reply_error(&own->x, &why);
	} else if (own->no_room) {
		(void)dw_api_fail(&why, 429, "retry later",
		                  "too many large requests at once");
		dw_reply_error(&own->x, &why);
	} else {
		own->route->fn(&own->x);
	}
	return mhd_result(own);
}

static void on_completed(void *user, struct MHD_Connection *conn, void **state,
                         enum MHD_RequestTerminationCode how)
{
	struct dw_exchange_own *own = *state;
	struct dw_http *http = own ? own->http : NULL;
	char status[16], ms[32];

	(void)user;
	if (!own)
		return;
	*state = NULL;
	set_deadline(conn, idle_deadline(http));
	dw_hangup_stop(own->hangup);
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
	dw_log(own->status >= 400 ? DW_LOG_INFO : DW_LOG_DEBUG, "http.request", "request",
	       own->x.id, "method", own->x.method, "path", own->x.path, "status",
	       own->status ? status : NULL, "ms", ms, "who",
	       own->x.caller.who[0] ? own->x.caller.who : NULL, "traceparent",
	       own->x.traceparent[0] ? own->x.traceparent : NULL, NULL);
	if (own->status > 0)
		dw_metrics_reply(dw_service_metrics(own->x.context->service),
		                 own->status);
	dw_exchange_drop_body(&own->x);
	dw_buf_finish(&own->stream);
	/* The thread that resumed us may still hold the lock. */
	(void)pthread_mutex_lock(&own->lock);
	(void)pthread_mutex_unlock(&own->lock);
	(void)pthread_mutex_destroy(&own->lock);
	free(own);

	(void)pthread_mutex_lock(&http->lock);
	if (--http->open == 0)
		(void)pthread_cond_broadcast(&http->none_open);
	(void)pthread_mutex_unlock(&http->lock);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *user, const char *fmt,
                                                         va_list ap)
{
	char text[512];

	(void)user;
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): MHD sets it */
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	dw_log(DW_LOG_DEBUG, "http.library", "text", text, NULL);
}

int dw_http_new(struct dw_http_context *context, const struct dw_listener *listener,
                int listen_fd, struct dw_http **ret, struct dw_error *err)
{
	struct dw_http *http = calloc(1, sizeof(*http));

	if (!http) {
		(void)close(listen_fd);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot serve %s",
		               listener->address);
	}
	dw_cond_init(&http->none_open);
	(void)pthread_mutex_init(&http->lock, NULL);
	http->context = context;
	http->listener = *listener;
	http->listen_fd = -1;
	http->mhd = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD |
	                                     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
	                                     MHD_USE_ERROR_LOG,
	                             0, NULL, NULL, on_request, http,
	                             MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
	                             MHD_OPTION_LISTEN_SOCKET, listen_fd,
	                             MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
	                             MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
	                             MHD_OPTION_CONNECTION_LIMIT,
	                             context->config->http.connections,
	                             MHD_OPTION_CONNECTION_TIMEOUT,
	                             context->config->http.idle_s,
	                             MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	                             (size_t)CONNECTION_BYTES,
	                             MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (!http->mhd) {
		(void)close(listen_fd);
		free(http);
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot serve %s",
		               listener->address);
	}
	*ret = http;
	return 0;
}

void dw_http_quiesce(struct dw_http *http)
{
	http->listen_fd = MHD_quiesce_daemon(http->mhd);
	/* A socket of the service manager stays open: the next daemon accepts from it. */
	if (!http->listener.given)
		(void)shutdown(http->listen_fd, SHUT_RDWR);
}

/* Wait until all replies are sent, but cut off slow readers after a timeout. */
static void finish_replies(struct dw_http *http)
{
	struct timespec until = dw_time_in(REPLIES_TIMEOUT_MS);

	dw_exchange_wait_offloaded();
	dw_request_timeout_end_all();
	(void)pthread_mutex_lock(&http->lock);
	while (http->open > 0)
		if (pthread_cond_timedwait(&http->none_open, &http->lock, &until) ==
		    ETIMEDOUT)
			break;
	(void)pthread_mutex_unlock(&http->lock);
}

void dw_http_free(struct dw_http *http)
{
	if (!http)
		return;
	finish_replies(http);
	MHD_stop_daemon(http->mhd);
	dw_hangup_wait();
	dw_fd_close(&http->listen_fd);
	(void)pthread_cond_destroy(&http->none_open);
	(void)pthread_mutex_destroy(&http->lock);
	free(http);
}
