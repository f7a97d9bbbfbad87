/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_AUTH_H
#define DW_HTTP_AUTH_H

#include <pthread.h>
#include <stdbool.h>

#include "daemon/config.h"
#include "daemon/listen.h"
#include "daemon/service.h"
#include "keys/keys.h"

struct dw_exchange;
struct dw_mcp_http;
struct dw_api_error;

/* What all listeners have in common. */
struct dw_http_context {
	struct dw_service *service;
	struct dw_keys *keys;
	struct dw_mcp_http *mcp;
	pthread_rwlock_t lock; /* of the config, which a reload replaces */
	struct dw_config *config;
	const char *audit; /* the path of the record */
};

/*
 * Is nobody to come in there without a key? Where others than this host's users can,
 * and where a level is allowed whose cells reach what is on this host: a program
 * would call the daemon that runs it.
 */
bool dw_auth_needs_key(const struct dw_config *config,
                       const struct dw_listener *entrance);

/*
 * Is it who may call us, and from where it may? Fills x->caller. Host and Origin are
 * looked at first: a web page of somebody else's must not learn whether a key is
 * good.
 */
int dw_auth_check(struct dw_http_context *door, const struct dw_listener *entrance,
                  int peer_fd, struct dw_exchange *x, struct dw_api_error *why);

#endif
