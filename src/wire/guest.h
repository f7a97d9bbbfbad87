/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WIRE_GUEST_H
#define DW_WIRE_GUEST_H

#include <stdint.h>

#include "dewar/result.h"

/*
 * The protocol between dewar-docker and dewar-guest, over the container's standard input
 * and output.
 *
 * Dewar-guest is the container's first process, and the only one with these two streams:
 * the program's stdio is pipes to the guest. So only the guest writes frames, and the
 * program's output is only ever the payload of OUT and ERR.
 *
 *	guest                           dewar-docker
 *	HELLO        ──────────────>    (reads back the limits of the container)
 *	             <──────────────    ORDER, then FILE with its DATA for each, GO
 *	WALLS        ──────────────>
 *	OUT, ERR     ──────────────>
 *	WANT         ──────────────>    INPUT, one for each WANT, or CLOSE
 *	             <──────────────    KILL (end everything now)
 *	END          ──────────────>    (the program and all it started are dead)
 *	FILE, DATA   ──────────────>    (the collected files)
 *	DONE         ──────────────>    (closes its end, and the guest ends)
 *
 * or, before WALLS, the guest sends ERROR. If the stream from dewar-docker ends, at any
 * point, the guest kills everything and exits.
 */
enum dw_guest_kind {
	DW_GUEST_HELLO = 1, /* struct dw_guest_hello */
	DW_GUEST_WALLS,     /* struct dw_report */
	DW_GUEST_OUT,
	DW_GUEST_ERR,
	DW_GUEST_WANT,
	DW_GUEST_DEAF, /* the program takes no more input */
	DW_GUEST_END,  /* struct dw_report */
	DW_GUEST_FILE, /* struct dw_guest_file, then the name */
	DW_GUEST_DATA, /* a part of the last FILE, until its size is reached */
	DW_GUEST_DONE,
	DW_GUEST_ERROR, /* struct dw_report */
	DW_GUEST_ORDER, /* struct dw_guest_order, then the parts that it counts */
	DW_GUEST_GO,
	DW_GUEST_INPUT,
	DW_GUEST_CLOSE,
	DW_GUEST_KILL,
	DW_GUEST_KIND_COUNT
};

struct dw_guest_frame {
	uint32_t kind;
	uint32_t len;
};

/* The longest payload of every frame but ORDER. */
#define DW_GUEST_PAYLOAD_MAX 65536U
#define DW_GUEST_ORDER_MAX (8U << 20)

struct dw_guest_hello {
	uint64_t ns[DW_NS_COUNT]; /* as in struct dw_walls */
};

struct dw_guest_file {
	uint64_t size;
	uint32_t mode;
	uint32_t pad;
};

enum dw_guest_flag {
	/* Refuse a network interface; without the flag, require one. */
	DW_GUEST_NO_NETWORK = 1U << 0,
};

/*
 * The lengths of the parts that follow: the plan (wire/plan.h) without FILE entries; the
 * names of programs that the image must have; and the patterns of files to collect. Each
 * name and pattern ends in a NUL.
 */
struct dw_guest_order {
	uint32_t flags;
	uint32_t plan;
	uint32_t needs;
	uint32_t collect;
	uint64_t tmp_bytes; /* refuse to run if /tmp holds more */
};

/* Ceilings for collected files. */
#define DW_GUEST_FILES_MAX 300U
#define DW_GUEST_BYTES_MAX (64U << 20)
#define DW_GUEST_LOOKS_MAX 20000U
#define DW_GUEST_NAME_MAX 1024U

#endif
