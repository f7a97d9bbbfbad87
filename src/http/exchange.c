/* SPDX-License-Identifier: Apache-2.0 */
#include "http/exchange.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "http/auth.h"
#include "http/hangup.h"

#define ASIDE_MAX 8
#define STREAM_BLOCK (64U << 10)

static struct dw_exchange_own *own_of(struct dw_exchange *x)
{
	return (struct dw_exchange_own *)x;
}

struct dw_service *dw_exchange_service(struct dw_exchange *x)
{
	return x->door->service;
}

void dw_exchange_drop_body(struct dw_exchange *x)
{
	dw_buf_finish(&x->body);
	dw_buf_init(&x->body, own_of(x)->body_max);
	dw_service_unclaim(x->door->service, x->claimed);
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
	                   "what is sent here is JSON");
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
	char *copy = malloc(len + 1);
	struct MHD_Response *response;

	if (!copy)
		return;
	memcpy(copy, text, len);
	response = MHD_create_response_from_buffer(len, copy, MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(copy);
	send_response(own_of(x), status, type, response);
}

void dw_reply_refusal(struct dw_exchange *x, const struct dw_api_error *why)
{
	autofree char *text = dw_api_error_to_json(why);
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
	struct dw_api_error why;

	if (text) {
		dw_reply(x, status, "application/json", text, strlen(text));
		return;
	}
	(void)dw_api_fail(&why, 500, "", "no memory for the reply");
	dw_reply_refusal(x, &why);
}

/* ---- sleeping and waking ---- */

/* Under the lock. */
static void fall_asleep(struct dw_exchange_own *own)
{
	own->asleep = true;
	MHD_suspend_connection(own->conn);
}

static void wake_up(struct dw_exchange_own *own)
{
	if (!own->asleep)
		return;
	own->asleep = false;
	MHD_resume_connection(own->conn);
}

static void task_gone(void *user)
{
	dw_task_cancel(user);
}

static void task_hold(void *user)
{
	(void)dw_task_ref(user);
}

static void task_release(void *user)
{
	dw_task_unref(user);
}

/* A client that hangs up ends its run. */
static void watch(struct dw_exchange_own *own)
{
	static const struct dw_watched run = {task_gone, task_hold, task_release};
	const struct dw_watched *what = own->x.watched;
	const union MHD_ConnectionInfo *info;

	if (!what && own->x.task && !own->x.detached)
		what = &run;
	if (!what || own->watch)
		return;
	info = MHD_get_connection_info(own->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		own->watch = dw_hangup_start(info->connect_fd, what,
		                             own->x.watched ? own->x.state
		                                            : (void *)own->x.task);
}

void dw_exchange_sleep(struct dw_exchange *x, void (*fn)(struct dw_exchange *x))
{
	struct dw_exchange_own *own = own_of(x);
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
	struct dw_exchange_own *own = own_of(x);

	(void)pthread_mutex_lock(&own->lock);
	own->woken = !own->asleep;
	wake_up(own);
	(void)pthread_mutex_unlock(&own->lock);
}

/* ---- in pieces ---- */

static ssize_t read_stream(void *user, uint64_t at, char *buf, size_t max)
{
	struct dw_exchange_own *own = user;
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
	struct dw_exchange_own *own = own_of(x);

	watch(own);
	dw_reply_header(x, "X-Accel-Buffering", "no");
	send_response(own, 200, type,
	              MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
	                                                read_stream, own, NULL));
}

void dw_stream_add(struct dw_exchange *x, const void *data, size_t len)
{
	struct dw_exchange_own *own = own_of(x);

	(void)pthread_mutex_lock(&own->lock);
	(void)dw_buf_add(&own->stream, data, len);
	wake_up(own);
	(void)pthread_mutex_unlock(&own->lock);
}

void dw_stream_end(struct dw_exchange *x)
{
	struct dw_exchange_own *own = own_of(x);

	(void)pthread_mutex_lock(&own->lock);
	own->stream_over = true;
	wake_up(own);
	(void)pthread_mutex_unlock(&own->lock);
}

/* ---- aside ---- */

static pthread_mutex_t aside_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t no_aside = PTHREAD_COND_INITIALIZER;
static unsigned n_aside;

static void *work_aside(void *user)
{
	struct dw_exchange_own *own = user;

	own->aside(&own->x);
	dw_exchange_wake(&own->x);
	(void)pthread_mutex_lock(&aside_lock);
	if (--n_aside == 0)
		(void)pthread_cond_broadcast(&no_aside);
	(void)pthread_mutex_unlock(&aside_lock);
	return NULL;
}

void dw_exchange_aside(struct dw_exchange *x, void (*fn)(struct dw_exchange *x),
                       void (*then)(struct dw_exchange *x))
{
	struct dw_exchange_own *own = own_of(x);
	struct dw_api_error why;
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
	(void)dw_api_fail(&why, 429, "try again later",
	                  "too many ask for such things now");
	why.retry_after_s = 1;
	dw_reply_refusal(x, &why);
}

void dw_exchange_aside_wait(void)
{
	(void)pthread_mutex_lock(&aside_lock);
	while (n_aside > 0)
		(void)pthread_cond_wait(&no_aside, &aside_lock);
	(void)pthread_mutex_unlock(&aside_lock);
}
