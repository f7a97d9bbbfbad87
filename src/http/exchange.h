/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_EXCHANGE_H
#define DW_HTTP_EXCHANGE_H

#include <pthread.h>

#include "http/http.h"

/*
 * What an exchange is inside; for http.c, which MHD calls, and exchange.c.
 */
struct MHD_Connection;
struct dw_route;
struct dw_hangup;

#define DW_REPLY_HEADERS_MAX 8

/* An exchange, and how it stands with MHD. */
struct dw_exchange_own {
	struct dw_exchange x; /* the first */
	struct dw_http *http;
	struct MHD_Connection *conn;
	const struct dw_route *route;
	uint64_t arrived_ms;
	uint64_t body_max;
	uint64_t body_by_ms;
	bool too_large, no_room;
	int status;    /* of the reply, 0 before */
	bool answered; /* it has been queued */
	struct {
		char name[32];
		char value[128];
	} headers[DW_REPLY_HEADERS_MAX];
	size_t n_headers;
	struct dw_hangup *watch;
	void (*then)(struct dw_exchange *x);
	void (*aside)(struct dw_exchange *x);

	pthread_mutex_t lock; /* of all below, which other threads touch */
	bool asleep, woken;
	struct dw_buf stream;
	size_t sent; /* of the stream */
	bool stream_over;
};

/* Wait for those that work aside: MHD cannot be stopped around one that sleeps. */
void dw_exchange_aside_wait(void);

#endif
