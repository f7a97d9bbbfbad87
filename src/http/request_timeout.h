/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_REQUEST_TIMEOUT_H
#define DW_HTTP_REQUEST_TIMEOUT_H

#include <stdint.h>

/*
 * How long we wait for a client to say what it wants. libmicrohttpd waits for the
 * next byte, as often as one comes: who sends one a minute is never cut. And where
 * the last bytes and the end come together it sees the bytes only.
 */
struct dw_request_timeout;

/*
 * From when a connection is there: fd is shut down, for its owner to close, once the
 * time has passed, or soon after its other end has hung up. NULL without memory.
 */
struct dw_request_timeout *dw_request_timeout_start(int fd, uint64_t until_ms);

/* Wait until then from now on; 0: it is us that it waits for. Both accept NULL. */
void dw_request_timeout_until(struct dw_request_timeout *patience, uint64_t until_ms);
void dw_request_timeout_stop(
	struct dw_request_timeout *patience); /* before fd is closed */

/* All patience is over: shut down each connection whose turn it is to say something. */
void dw_request_timeout_end(void);

#endif
