/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_HTTP_OWN_H
#define DW_HTTP_HTTP_OWN_H

#include "http/http.h"

/* Private to src/http. */
struct MHD_Connection;
struct dw_hangup;
struct dw_request_timeout;

/* ---- routes: router.c, routes_*.c ---- */

struct dw_route {
	const char *method;
	const char *path; /* "/v1/runs/{id}" */
	unsigned scope;   /* of enum dw_scope; 0: any key will do */
	bool open;        /* needs no key */
	void (*fn)(struct dw_exchange *x);
};

/* The route for the method and path, with x->param set; or NULL and *why. */
const struct dw_route *dw_route_find(struct dw_exchange *x, struct dw_api_error *why);

void dw_api_run(struct dw_exchange *x);
void dw_api_run_get(struct dw_exchange *x);
void dw_api_run_cancel(struct dw_exchange *x);
void dw_api_languages(struct dw_exchange *x);
void dw_api_levels(struct dw_exchange *x);
void dw_api_openapi(struct dw_exchange *x);
void dw_api_approvals(struct dw_exchange *x);
void dw_api_approval_get(struct dw_exchange *x);
void dw_api_approval_decide(struct dw_exchange *x);
void dw_api_memories(struct dw_exchange *x);
void dw_api_memory_forget(struct dw_exchange *x);
void dw_api_audit(struct dw_exchange *x);
void dw_api_health(struct dw_exchange *x);
void dw_api_ready(struct dw_exchange *x);
void dw_api_metrics(struct dw_exchange *x);

/* ---- exchanges: exchange.c, server.c ---- */

#define DW_REPLY_HEADERS_MAX 8

/* An exchange and its state in libmicrohttpd. */
struct dw_exchange_own {
	struct dw_exchange x; /* must be the first member */
	struct dw_http *http;
	struct MHD_Connection *conn;
	const struct dw_route *route;
	uint64_t arrived_ms;
	uint64_t body_max;
	uint64_t body_by_ms;
	bool too_large, no_room;
	int status;    /* of the reply, 0 before it */
	bool answered; /* the reply is queued */
	struct {
		char name[32];
		char value[128];
	} headers[DW_REPLY_HEADERS_MAX];
	size_t n_headers;
	struct dw_hangup *hangup;
	void (*then)(struct dw_exchange *x);
	void (*offloaded)(struct dw_exchange *x);

	pthread_mutex_t lock; /* protects all below, which other threads use */
	bool suspended, resumed;
	struct dw_buf stream;
	size_t sent; /* bytes of the stream already sent */
	bool stream_ended;
};

/* Wait for all offloaded work to end: MHD cannot stop with a connection suspended. */
void dw_exchange_wait_offloaded(void);

/*
 * Check that the caller may use this listener, and fill x->caller. Host and Origin come
 * first: a foreign web page must not learn whether a key is valid.
 */
int dw_auth_check(struct dw_http_context *context, const struct dw_listener *listener,
                  int peer_fd, struct dw_exchange *x, struct dw_api_error *why);

/* ---- streams of a run's events: stream.c ---- */

enum dw_stream_form {
	DW_STREAM_NONE = 0,
	DW_STREAM_EVENTS, /* text/event-stream */
	DW_STREAM_LINES,  /* application/x-ndjson */
};

/* Returns the form that the header Accept asks for; accept may be NULL. */
enum dw_stream_form dw_stream_form(const char *accept);
const char *dw_stream_type(enum dw_stream_form form);

/* Create the callback, and its argument, for dw_task_start(). -1 without memory. */
int dw_stream_open(struct dw_exchange *x, enum dw_stream_form form, dw_task_fn **ret_fn,
                   void **ret_user);

/* ---- clients that hang up: hangup.c ---- */

/*
 * Call handler->on_hangup() once the other end of fd has closed its side: libmicrohttpd
 * does not watch a suspended connection. An fd has at most one watch at a time. NULL
 * without memory or descriptors; then a hang-up goes unnoticed until the reply is sent.
 */
struct dw_hangup *dw_hangup_start(int fd, const struct dw_hangup_handler *handler,
                                  void *user);

/* Must be called before fd is closed. on_hangup() may still be running. Accepts NULL. */
void dw_hangup_stop(struct dw_hangup *watch);

/* Wait until no on_hangup() is running; only then free what a handler uses. */
void dw_hangup_wait(void);

/* ---- clients that are slow: request_timeout.c ---- */

/*
 * Shut fd down at the deadline, or soon after the other end has hung up; its owner then
 * closes it. libmicrohttpd's own timeout restarts with every byte, so a client that sends
 * one byte a minute is never timed out; and if the last bytes and the hang-up arrive
 * together, libmicrohttpd sees only the bytes. NULL without memory.
 */
struct dw_request_timeout *dw_request_timeout_start(int fd, uint64_t deadline_ms);

/*
 * Set another deadline; 0 means none, for the time in which the client waits for us.
 * Accepts NULL.
 */
void dw_request_timeout_set(struct dw_request_timeout *timeout, uint64_t deadline_ms);

/* Must be called before fd is closed. Accepts NULL. */
void dw_request_timeout_stop(struct dw_request_timeout *timeout);

/* Shut down every connection that has a deadline. */
void dw_request_timeout_end_all(void);

#endif
