/* SPDX-License-Identifier: Apache-2.0 */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/lock.h"
#include "http/http_own.h"

#define OFFLOADED_MAX 8
#define STREAM_BLOCK (64U << 10)

static struct dw_exchange_own *own_of(struct dw_exchange *x)
{
	return (struct dw_exchange_own *)x;
}

struct dw_service *dw_exchange_service(struct dw_exchange *x)
{
	return x->context->service;
}

void dw_exchange_drop_body(struct dw_exchange *x)
{
	dw_buf_finish(&x->body);
	dw_buf_init(&x->body, own_of(x)->body_max);
	dw_service_unclaim(x->context->service, x->claimed);
	x->claimed = 0;
}

const char *dw_exchange_header(struct dw_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(own_of(x)->conn, MHD_HEADER_KIND, name);
}

const char *dw_exchange_query(struct dw_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(own_of(x)->conn, MHD_GET_ARGUMENT_KIND, name);
}

int dw_exchange_check_json(struct dw_exchange *x, struct dw_api_error *why)
{
	const char *type = dw_exchange_header(x, "Content-Type");
	size_t len = type ? strcspn(type, "; ") : 0;

	if (type && len == strlen("application/json") &&
	    strncasecmp(type, "application/json", len) == 0)
		return 0;
	return dw_api_fail(why, 415, "send Content-Type: application/json",
	                   "the request body must be JSON");
}

/* ---- replies ---- */

void dw_reply_header(struct dw_exchange *x, const char *name, const char *value)
{
	struct dw_exchange_own *own = own_of(x);

	if (own->n_headers == DW_REPLY_HEADERS_MAX)
		return;
	(void)snprintf(own->headers[own->n_headers].name, sizeof(own->headers[0].name),
	               "%s", name);
	(void)snprintf(own->headers[own->n_headers].value, sizeof(own->headers[0].value),
	               "%s", value);
	own->n_headers++;
}

static void send_response(struct dw_exchange_own *own, int status, const char *type,
                          struct MHD_Response *response)
{
	if (!response)
		return; /* MHD closes a connection that gets no reply */
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
	if (dw_service_draining(own->x.context->service))
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
	              MHD_create_response_from_buffer(len, (void *)text,
	                                              MHD_RESPMEM_MUST_COPY));
}

void dw_reply_error(struct dw_exchange *x, const struct dw_api_error *why)
{
	static const char no_memory[] = "{\"error\":{\"code\":\"internal\","
					"\"message\":\"out of memory\",\"hint\":null}}";
	autofree char *json = dw_api_error_to_json(why);
	const char *text = json ? json : no_memory;
	char seconds[16];

	if (why->retry_after_s > 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", why->retry_after_s);
		dw_reply_header(x, "Retry-After", seconds);
	}
	if (why->status == 401)
		dw_reply_header(x, "WWW-Authenticate", "Bearer realm=\"dewar\"");
	dw_reply(x, why->status, "application/json", text, strlen(text));
}

void dw_reply_json(struct dw_exchange *x, int status, const char *text)
{
	struct dw_api_error why;

	if (text) {
		dw_reply(x, status, "application/json", text, strlen(text));
		return;
	}
	(void)dw_api_fail(&why, 500, NULL, "out of memory");
	dw_reply_error(x, &why);
}

/* ---- suspending and resuming ---- */

/* The caller of suspend() and resume() holds the lock. */
static void suspend(struct dw_exchange_own *own)
{
	own->suspended = true;
	MHD_suspend_connection(own->conn);
}

static void resume(struct dw_exchange_own *own)
{
	if (!own->suspended)
		return;
	own->suspended = false;
	MHD_resume_connection(own->conn);
}

static void cancel_task(void *user)
{
	dw_task_cancel(user);
}

static void ref_task(void *user)
{
	(void)dw_task_ref(user);
}

static void unref_task(void *user)
{
	dw_task_unref(user);
}

/* Cancel the exchange's run, or call its handler, if the client hangs up. */
static void watch_hangup(struct dw_exchange_own *own)
{
	static const struct dw_hangup_handler run = {cancel_task, ref_task, unref_task};
	const struct dw_hangup_handler *handler = own->x.on_hangup;
	void *user = handler ? own->x.state : own->x.task;
	const union MHD_ConnectionInfo *info;

	if (!handler && own->x.task && !own->x.detached)
		handler = &run;
	if (!handler || own->hangup)
		return;
	info = MHD_get_connection_info(own->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		own->hangup = dw_hangup_start(info->connect_fd, handler, user);
}

void dw_exchange_suspend(struct dw_exchange *x, void (*fn)(struct dw_exchange *x))
{
	struct dw_exchange_own *own = own_of(x);
	bool resumed;

	own->then = fn;
	watch_hangup(own);
	(void)pthread_mutex_lock(&own->lock);
	resumed = own->resumed;
	own->resumed = false;
	if (!resumed)
		suspend(own);
	(void)pthread_mutex_unlock(&own->lock);
	if (resumed) {
		own->then = NULL;
		fn(x);
	}
}

void dw_exchange_resume(struct dw_exchange *x)
{
	struct dw_exchange_own *own = own_of(x);

	HOLD_LOCK(&own->lock);
	own->resumed = !own->suspended;
	resume(own);
}

/* ---- streams ---- */

static ssize_t read_stream(void *user, uint64_t at, char *buf, size_t max)
{
	struct dw_exchange_own *own = user;
	size_t n;

	(void)at;
	HOLD_LOCK(&own->lock);
	n = own->stream.len - own->sent;
	if (n == 0 && own->stream_ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0) {
		suspend(own);
		return 0;
	}
	if (n > max)
		n = max;
	memcpy(buf, own->stream.data + own->sent, n);
	own->sent += n;
	if (own->sent == own->stream.len) {
		own->sent = 0;
		dw_buf_finish(&own->stream);
		dw_buf_init(&own->stream, SIZE_MAX / 2);
	}
	return (ssize_t)n;
}

void dw_reply_stream(struct dw_exchange *x, const char *type)
{
	struct dw_exchange_own *own = own_of(x);

	watch_hangup(own);
	dw_reply_header(x, "X-Accel-Buffering", "no");
	send_response(own, 200, type,
	              MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
	                                                read_stream, own, NULL));
}

void dw_stream_add(struct dw_exchange *x, const void *data, size_t len)
{
	struct dw_exchange_own *own = own_of(x);

	HOLD_LOCK(&own->lock);
	(void)dw_buf_add(&own->stream, data, len);
	resume(own);
}

void dw_stream_end(struct dw_exchange *x)
{
	struct dw_exchange_own *own = own_of(x);

	HOLD_LOCK(&own->lock);
	own->stream_ended = true;
	resume(own);
}

/* ---- work that blocks ---- */

static pthread_mutex_t offload_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t none_offloaded = PTHREAD_COND_INITIALIZER;
static unsigned n_offloaded;

static bool begin_offload(void)
{
	HOLD_LOCK(&offload_lock);
	if (n_offloaded == OFFLOADED_MAX)
		return false;
	n_offloaded++;
	return true;
}

static void end_offload(void)
{
	HOLD_LOCK(&offload_lock);
	if (--n_offloaded == 0)
		(void)pthread_cond_broadcast(&none_offloaded);
}

static void *run_offloaded(void *user)
{
	struct dw_exchange_own *own = user;

	own->offloaded(&own->x);
	dw_exchange_resume(&own->x);
	end_offload();
	return NULL;
}

void dw_exchange_offload(struct dw_exchange *x, void (*fn)(struct dw_exchange *x),
                         void (*then)(struct dw_exchange *x))
{
	struct dw_exchange_own *own = own_of(x);
	struct dw_api_error why;
	pthread_t thread;

	own->offloaded = fn;
	if (begin_offload()) {
		if (pthread_create(&thread, NULL, run_offloaded, own) == 0) {
			(void)pthread_detach(thread);
			dw_exchange_suspend(x, then);
			return;
		}
		end_offload();
	}
	(void)dw_api_fail(&why, 429, "retry later", "too many background requests");
	dw_reply_error(x, &why);
}

void dw_exchange_wait_offloaded(void)
{
	HOLD_LOCK(&offload_lock);
	while (n_offloaded > 0)
		(void)pthread_cond_wait(&none_offloaded, &offload_lock);
}
