/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_LISTEN_H
#define DW_VERIFY_LISTEN_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"

/*
 * Whoever an attack tries to reach: services at every address and at the ports
 * that people attack, sockets in the file system and an abstract one. Each
 * answers with the secret, and the range's network counts every packet.
 */

#define DW_LISTEN_MAX 20
#define DW_LISTEN_PORT 7399 /* beside the well-known ones */

struct dw_listeners {
	struct pollfd fds[DW_LISTEN_MAX];
	const char *names[DW_LISTEN_MAX];
	size_t n;
	uint16_t port;
	char abstract[40]; /* without the NUL in front */
	char abstract_log[40];
};

/* In the network that we are in now. */
int dw_listen_open(struct dw_listeners *l, const char *base, struct dw_error *err);

/*
 * In a network that others use: at addresses of its loopback only, under names and a
 * port that nobody else has.
 */
int dw_listen_open_outside(struct dw_listeners *l, const char *base,
                           struct dw_error *err);
void dw_listen_close(struct dw_listeners *l);

/* Answer whoever is there with the secret. Who it was, in ret, if it was empty. */
void dw_listen_serve(struct dw_listeners *l, const char *secret, char *ret, size_t size);

/* Has any packet been sent in the network that we are in? */
bool dw_listen_counted(void);

#endif
