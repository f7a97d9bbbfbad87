/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_HTTP_H
#define DW_DOCKER_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dewar/error.h"

/*
 * HTTP over a unix socket, with libcurl. One connection, one call at a time; a
 * call ends by its deadline at the latest, or when cancel_fd has something to say.
 */
struct dw_docker_http;

int dw_docker_http_open(const char *socket_path, int cancel_fd,
                        struct dw_docker_http **ret, struct dw_error *err);
void dw_docker_http_close(struct dw_docker_http *http);

/* Heed another descriptor from now on, or none for -1. */
void dw_docker_http_heed(struct dw_docker_http *http, int cancel_fd);

/* Called for each line of a reply as it comes; a failure ends the call. */
typedef int dw_docker_http_line_fn(void *user, const char *line, size_t len);

struct dw_docker_http_call {
	const char *method;
	const char *path; /* escaped already: "/v1.41/containers/json?all=1" */
	const char *body; /* JSON, or NULL */
	uint64_t deadline_ms;
	uint64_t grace_ms;               /* to go on for, where it is cancelled */
	uint64_t stall_ms;               /* give up when so long nothing came; 0: never */
	dw_docker_http_line_fn *on_line; /* NULL: the reply is kept whole */
	dw_docker_http_line_fn *on_header; /* for each line of its head, or NULL */
	void *user;
};

/*
 * Podman, if whoever asked it to make or to start something is gone before it is done,
 * may keep half a container that it can neither list nor remove.
 */
#define DW_DOCKER_HTTP_GRACE_MS 2000U

/* More than any reply that we ask for. */
#define DW_DOCKER_HTTP_REPLY_MAX (8U << 20)

/*
 * 0, with the status and the reply, whatever the status is. -1 if there was no
 * whole reply: DW_E_UNSUPPORTED, or DW_E_BUSY if it was cancelled.
 */
int dw_docker_http_call(struct dw_docker_http *http,
                        const struct dw_docker_http_call *call, long *ret_status,
                        struct dw_buf *ret_body, struct dw_error *err);

/* A word of a path or a query, escaped; free() it. NULL without memory. */
char *dw_docker_http_escape(const char *text);

#endif
