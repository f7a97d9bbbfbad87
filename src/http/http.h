/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_HTTP_H
#define DW_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "daemon/api_error.h"
#include "daemon/task.h"

/*
 * HTTP, by libmicrohttpd: one thread a listener, which never waits for anything.
 * Who has to wait (for a run, for a disk) puts the exchange to sleep and wakes it
 * from another thread.
 */
struct dw_http;
struct dw_http_context;
struct dw_listener;
struct dw_watched;

/* One request and its reply. */
struct dw_exchange {
	struct dw_http_context *door;
	char id[DW_ID_MAX]; /* of the request, and of the run it asks for */
	const char *method; /* these live as long as the exchange */
	const char *path;
	char traceparent[64]; /* "" if there was none */
	char param[128];      /* what stands for {id} in the route */
	struct dw_buf body;
	size_t claimed; /* of the service, for the body */
	struct dw_caller caller;
	bool no_key; /* nobody's key was asked for */

	struct dw_task *task;             /* the run it waits for, or NULL */
	bool detached;                    /* the run goes on without it */
	void *state;                      /* the route's own */
	const struct dw_watched *watched; /* told of a hang-up, with state; or NULL */
	void (*free_state)(void *state);
};

/*
 * Serve what comes in at a socket that listens, which is ours from here on. -1 and
 * it is closed.
 */
int dw_http_new(struct dw_http_context *door, const struct dw_listener *entrance,
                int listen_fd, struct dw_http **ret, struct dw_error *err);

/* Take no more connections; those there are go on. */
void dw_http_quiesce(struct dw_http *http);

/* No run may be under way. Accepts NULL. */
void dw_http_free(struct dw_http *http);

/* A header of the request, or NULL; a value of its query, or NULL. */
const char *dw_exchange_header(struct dw_exchange *x, const char *name);
const char *dw_exchange_query(struct dw_exchange *x, const char *name);

/* Is the body said to be JSON? */
int dw_exchange_check_json(struct dw_exchange *x, struct dw_api_error *why);

struct dw_service *dw_exchange_service(struct dw_exchange *x);

/* It was read, and its memory is for others; unless x->claimed has become somebody's. */
void dw_exchange_drop_body(struct dw_exchange *x);

/*
 * Replies; one an exchange. From the exchange's own thread: in a route, or in what
 * is called after it slept.
 */
void dw_reply(struct dw_exchange *x, int status, const char *type, const char *text,
              size_t len);
void dw_reply_json(struct dw_exchange *x, int status, const char *text); /* NULL: 500 */
void dw_reply_refusal(struct dw_exchange *x, const struct dw_api_error *why);

/* A header for the reply to come; before it. Both are copied. */
void dw_reply_header(struct dw_exchange *x, const char *name, const char *value);

/*
 * A reply in pieces: begin, then from any thread add and end. Pieces that nobody
 * fetches yet are kept: there are as many as a run's cap on output allows.
 */
void dw_reply_stream(struct dw_exchange *x, const char *type);
void dw_stream_add(struct dw_exchange *x, const void *data, size_t len);
void dw_stream_end(struct dw_exchange *x);

/*
 * Sleep until dw_exchange_wake(), which may have come already, and go on with fn
 * then. While it sleeps, and while it streams, a client that hangs up cancels
 * x->task unless it is detached, and x->watched is told.
 */
void dw_exchange_sleep(struct dw_exchange *x, void (*fn)(struct dw_exchange *x));
void dw_exchange_wake(struct dw_exchange *x); /* from any thread */

/* Let fn work in a thread of its own, which may take its time; then go on with then. */
void dw_exchange_aside(struct dw_exchange *x, void (*fn)(struct dw_exchange *x),
                       void (*then)(struct dw_exchange *x));

#endif
