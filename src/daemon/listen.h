/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_LISTEN_H
#define DW_DAEMON_LISTEN_H

#include <stdbool.h>

#include "dewar/error.h"

/* A socket that clients connect to. */
struct dw_listener {
	bool unix_socket;
	bool loopback;     /* only this host can connect to it */
	bool given;        /* the service manager created the socket and keeps it open */
	char address[128]; /* "127.0.0.1:7443", for Host and messages */
};

/*
 * The dw_listen_tcp(), _unix() and _given() functions return a listening socket, or -1.
 */

/*
 * Listen at an address such as "127.0.0.1:7443" or "[::1]:0". It cannot be a host name,
 * which may resolve to another address later.
 */
int dw_listen_tcp(const char *address, struct dw_listener *ret, struct dw_error *err);

/* Returns true if dw_listen_tcp() can parse this address. */
bool dw_listen_is_address(const char *text);

/*
 * Create a socket that only this user can connect to. Replaces the socket of a daemon
 * that has ended.
 */
int dw_listen_unix(const char *path, struct dw_listener *ret, struct dw_error *err);

/* Use a socket that the service manager created. */
int dw_listen_given(int fd, struct dw_listener *ret, struct dw_error *err);

/* ---- sd_notify.c: sd_notify() and socket activation; no-ops without systemd ---- */

/* Send a state such as "READY=1" or "STOPPING=1" to systemd. */
void dw_sd_notify(const char *text);

/*
 * Returns the number of passed sockets, the first of which is DW_SD_FIRST. Clears the
 * variables.
 */
int dw_sd_sockets(void);

#define DW_SD_FIRST 3

#endif
