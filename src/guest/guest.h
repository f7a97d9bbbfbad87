/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_GUEST_GUEST_H
#define DW_GUEST_GUEST_H

#include <stddef.h>

#include "wire/guest.h"

/*
 * dewar-guest: the first process of a container that an engine built. This is shared
 * by main.c and files.c.
 */

/* Send one frame; if the stream is closed, end the container. */
void dw_guest_send(enum dw_guest_kind kind, const void *data, size_t len);

/*
 * Write a file into the cell: FILE and its DATA are read from standard input. Its
 * payload, the frame's header being read already, has len bytes.
 */
void dw_guest_take_file(size_t len);

/* Read exactly len bytes from standard input; if it ends, end the container. */
void dw_guest_read(void *data, size_t len);

/* Send what matches one of the patterns, each with its NUL, below /tmp. */
void dw_guest_collect(const char *patterns, size_t len);

_Noreturn void dw_guest_end(void);

#endif
