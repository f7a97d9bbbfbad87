/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_GUEST_GUEST_OWN_H
#define DW_GUEST_GUEST_OWN_H

#include <stddef.h>

#include "init/init.h"
#include "wire/guest.h"

/*
 * dewar-guest: the first process of a container that an engine created. main.c describes
 * the order of its steps.
 */

struct dw_guest {
	struct dw_guest_order order;
	struct dw_plan plan;
	const char *needs;
	const char *collect;
	struct dw_init init;
	pid_t program;
	int in;     /* our ends of the program's stdio */
	int out[2]; /* by enum dw_stream */
	uint64_t start;
	size_t n_pending; /* input that the program has not taken yet */
	size_t at_pending;
	char pending[DW_GUEST_PAYLOAD_MAX];
};

/* start.c: check the walls, fork the program, report the walls that the kernel shows. */
void dw_guest_start_program(struct dw_guest *g);

/*
 * frames.c: if dewar-docker reads slowly, a write waits until this time at most, because
 * no limit of the program is checked while it waits.
 */
extern uint64_t dw_guest_give_up_ns;

/* Why the program's process failed before its exec. */
extern struct dw_error dw_guest_failure;

void dw_guest_report(enum dw_guest_kind kind, const struct dw_report *report);

/* Send one frame; if the stream is closed, end the container. */
void dw_guest_send(enum dw_guest_kind kind, const void *data, size_t len);

/*
 * transfer.c: write a file into the cell. The header of a FILE frame has been read; this
 * reads its payload of len bytes, and the DATA frames that follow, from standard input.
 */
void dw_guest_take_file(size_t len);

/* Read exactly len bytes from standard input; if it ends, end the container. */
void dw_guest_read(void *data, size_t len);

/* Send each file below /tmp that matches one of the patterns, which end in a NUL. */
void dw_guest_collect(const char *patterns, size_t len);

_Noreturn void dw_guest_end(void);

#endif
