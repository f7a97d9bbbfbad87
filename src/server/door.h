/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_DOOR_H
#define DW_SERVER_DOOR_H

#include <pthread.h>
#include <stdbool.h>

#include "keys/keys.h"
#include "server/config.h"
#include "server/service.h"

struct dw_exchange;
struct dw_mcp_http;
struct dw_refusal;

/* What all listeners have in common. */
struct dw_door {
	struct dw_service *service;
	struct dw_keys *keys;
	struct dw_mcp_http *mcp;
	pthread_rwlock_t lock; /* of the config, which a reload replaces */
	struct dw_config *config;
	const char *audit; /* the path of the record */
};

/* How somebody came in. */
struct dw_entrance {
	bool unix_socket;
	bool loopback;     /* nobody but this host gets there */
	bool given;        /* a service manager made the socket and keeps it */
	char address[128]; /* "127.0.0.1:7443", for Host and messages */
};

/*
 * Is nobody to come in there without a key? Where others than this host's users can,
 * and where a level is allowed whose cells reach what is on this host: a program
 * would call the daemon that runs it.
 */
bool dw_door_needs_key(const struct dw_config *config,
                       const struct dw_entrance *entrance);

/*
 * Is it who may call us, and from where it may? Fills x->caller. Host and Origin are
 * looked at first: a web page of somebody else's must not learn whether a key is
 * good.
 */
int dw_door_check(struct dw_door *door, const struct dw_entrance *entrance, int peer_fd,
                  struct dw_exchange *x, struct dw_refusal *why);

#endif
