/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_LISTEN_H
#define DW_SERVER_LISTEN_H

#include <stdbool.h>

#include "dewar/error.h"
#include "server/door.h"

/* Sockets that listen; the descriptor, or -1. */

/* "127.0.0.1:7443", "[::1]:0": an address and not a name, since names change. */
int dw_listen_tcp(const char *address, struct dw_entrance *ret, struct dw_error *err);

/* Is it an address as above? */
bool dw_listen_is_address(const char *text);

/* For this user alone. One that nobody listens at any more is replaced. */
int dw_listen_unix(const char *path, struct dw_entrance *ret, struct dw_error *err);

/* One that somebody else made and gave us. */
int dw_listen_given(int fd, struct dw_entrance *ret, struct dw_error *err);

#endif
