/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_LISTEN_H
#define DW_DAEMON_LISTEN_H

#include <stdbool.h>

#include "dewar/error.h"

/* A socket that clients connect to. */
struct dw_listener {
	bool unix_socket;
	bool loopback;     /* reachable from this host only */
	bool given;        /* the service manager created the socket and keeps it */
	char address[128]; /* "127.0.0.1:7443", for Host and messages */
};

/* Each returns a listening socket, or -1. */

/* "127.0.0.1:7443", "[::1]:0": an address, not a name, which may change. */
int dw_listen_tcp(const char *address, struct dw_listener *ret, struct dw_error *err);

/* Returns true if the text is such an address. */
bool dw_listen_is_address(const char *text);

/* Only for this user. Replaces the socket of a daemon that has ended. */
int dw_listen_unix(const char *path, struct dw_listener *ret, struct dw_error *err);

/* A socket that the service manager created. */
int dw_listen_given(int fd, struct dw_listener *ret, struct dw_error *err);

/* ---- systemd's sd_notify() and socket activation; no-ops without it: sd_notify.c ---- */

/* "READY=1", "STOPPING=1" */
void dw_sd_notify(const char *text);

/* The number of sockets passed, from DW_SD_FIRST on. Clears the variables. */
int dw_sd_sockets(void);

#define DW_SD_FIRST 3

#endif
