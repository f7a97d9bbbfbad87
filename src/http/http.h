/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_HTTP_H
#define DW_HTTP_HTTP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "daemon/api_error.h"
#include "daemon/config.h"
#include "daemon/listen.h"
#include "daemon/service.h"
#include "daemon/task.h"
#include "keys/keys.h"

/*
 * The HTTP server, on libmicrohttpd: one thread per listener, which never blocks. A
 * route that has to wait, for a run or for a disk, suspends its exchange, and another
 * thread resumes it.
 */
struct dw_http;
struct dw_mcp_http;

/* Shared by all listeners. */
struct dw_http_context {
	struct dw_service *service;
	struct dw_keys *keys;
	struct dw_mcp_http *mcp;
	pthread_rwlock_t lock;    /* of config */
	struct dw_config *config; /* a reload replaces it */
	const char *audit;        /* path of the audit record */
};

/* Serve a listening socket and take ownership of it. On failure, closes it. */
int dw_http_new(struct dw_http_context *context, const struct dw_listener *listener,
                int listen_fd, struct dw_http **ret, struct dw_error *err);

/* Accept no more connections; continue to serve the open ones. */
void dw_http_quiesce(struct dw_http *http);

/* Every run must have ended. Accepts NULL. */
void dw_http_free(struct dw_http *http);

/*
 * Returns true if this listener must refuse requests without a key: it can be reached
 * from other hosts, or the config allows a level whose programs can connect to this
 * host, and with it to the daemon that runs them.
 */
bool dw_auth_needs_key(const struct dw_config *config,
                       const struct dw_listener *listener);

/* ---- for routes ---- */

/*
 * What to notify if the client hangs up. user is referenced from the start of the watch
 * to its end, and while on_hangup() runs.
 */
struct dw_hangup_handler {
	void (*on_hangup)(void *user); /* from another thread */
	void (*ref)(void *user);
	void (*unref)(void *user);
};

/* One request and its reply. */
struct dw_exchange {
	struct dw_http_context *context;
	char id[DW_ID_MAX]; /* id of the request, and of the run that it starts */
	const char *method; /* both live as long as the exchange */
	const char *path;
	char traceparent[64]; /* "" if the client sent none */
	char param[128];      /* the part of the path in place of {id} */
	struct dw_buf body;
	size_t claimed; /* from the service, for the body; see dw_service_claim() */
	struct dw_caller caller;
	bool no_key; /* the route needs no key */

	struct dw_task *task; /* the run that it waits for, or NULL */
	bool detached;        /* the run outlives the exchange */
	void *state;          /* the route's own */
	void (*free_state)(void *state);
	const struct dw_hangup_handler *on_hangup; /* called with state; or NULL */
};

/* A header of the request, or a value of its query; NULL if it is absent. */
const char *dw_exchange_header(struct dw_exchange *x, const char *name);
const char *dw_exchange_query(struct dw_exchange *x, const char *name);

/* Returns 0 if Content-Type is JSON, else -1 and *why. */
int dw_exchange_check_json(struct dw_exchange *x, struct dw_api_error *why);

struct dw_service *dw_exchange_service(struct dw_exchange *x);

/* Free the body, and return x->claimed to the service. */
void dw_exchange_drop_body(struct dw_exchange *x);

/*
 * Send the reply: one per exchange, from the exchange's own thread, which is in a route
 * or in the function given to dw_exchange_suspend().
 */
void dw_reply(struct dw_exchange *x, int status, const char *type, const char *text,
              size_t len);
void dw_reply_json(struct dw_exchange *x, int status, const char *text); /* NULL: 500 */
void dw_reply_error(struct dw_exchange *x, const struct dw_api_error *why);

/* Add a header to the reply, before the reply is sent. Both strings are copied. */
void dw_reply_header(struct dw_exchange *x, const char *name, const char *value);

/*
 * Send a streamed reply: begin it in the exchange's own thread, then add to it and end it
 * from any thread. Bytes that the client has not read stay in memory; a run's output
 * limit bounds them.
 */
void dw_reply_stream(struct dw_exchange *x, const char *type);
void dw_stream_add(struct dw_exchange *x, const void *data, size_t len);
void dw_stream_end(struct dw_exchange *x);

/*
 * Suspend the exchange until dw_exchange_resume(), which may have been called already,
 * then continue with fn. If the client hangs up while the exchange is suspended or
 * streams, x->on_hangup is called with x->state; without a handler, x->task is cancelled
 * unless it is detached.
 */
void dw_exchange_suspend(struct dw_exchange *x, void (*fn)(struct dw_exchange *x));
void dw_exchange_resume(struct dw_exchange *x); /* from any thread */

/* Run fn, which may block, in a thread of its own, then continue with then. */
void dw_exchange_offload(struct dw_exchange *x, void (*fn)(struct dw_exchange *x),
                         void (*then)(struct dw_exchange *x));

/* The routes of /mcp, which mcp/over_http.c defines. */
void dw_mcp_http_post(struct dw_exchange *x);
void dw_mcp_http_delete(struct dw_exchange *x);

#endif
