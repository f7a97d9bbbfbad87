/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_LISTEN_H
#define DW_DAEMON_LISTEN_H

#include <stdbool.h>

#include "dewar/error.h"

/* A socket that clients connect to. */
struct dw_listener {
	bool unix_socket;
	bool loopback;     /* reachable from this host only */
	bool given;        /* the service manager made the socket and keeps it */
	char address[128]; /* "127.0.0.1:7443", for Host and messages */
};

/* Each returns a listening socket, or -1. */

/* "127.0.0.1:7443", "[::1]:0": an address and not a name, since names change. */
int dw_listen_tcp(const char *address, struct dw_listener *ret, struct dw_error *err);

/* Is it an address as above? */
bool dw_listen_is_address(const char *text);

/* For this user alone. One that nobody listens at any more is replaced. */
int dw_listen_unix(const char *path, struct dw_listener *ret, struct dw_error *err);

/* One that somebody else made and gave us. */
int dw_listen_given(int fd, struct dw_listener *ret, struct dw_error *err);

#endif
