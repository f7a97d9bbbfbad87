/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WIRE_DOCKER_H
#define DW_WIRE_DOCKER_H

#include <stdint.h>

#include "dewar/error.h"
#include "dewar/result.h"
#include "wire/report.h"

/*
 * The protocol between dewar and dewar-docker: one packet for each message, over a
 * SOCK_SEQPACKET pair, which is dewar-docker's descriptor 3. Its 0, 1 and 2 are the
 * program's.
 *
 * Dewar sends one byte with a sealed memfd that has the order in JSON
 * (levels/docker_order.c) and, for a run, a sealed plan. Then dewar-docker reports:
 *
 *	FOUND   an engine answered; text is its name
 *	NOTE    progress of a pull, for a person
 *	MADE    the container runs, with only dewar-guest in it
 *	WALLS   all walls are up, and the program has started
 *	END     every process of the program has ended
 *	LEFT    the container could not be removed; text says why
 *
 * or, at any point, ERROR. Dewar-docker exits when the container is gone. Dewar sends "k"
 * to end the cell, and "k" again to force it. If dewar's end closes, the cell ends.
 */
enum dw_docker_kind {
	DW_DOCKER_FOUND = 1,
	DW_DOCKER_NOTE,
	DW_DOCKER_MADE,
	DW_DOCKER_WALLS,
	DW_DOCKER_END,
	DW_DOCKER_LEFT,
	DW_DOCKER_ERROR,
	DW_DOCKER_KIND_COUNT
};

enum dw_docker_limit {
	DW_DOCKER_MEMORY = 0,
	DW_DOCKER_CPU,
	DW_DOCKER_PIDS,
	DW_DOCKER_LIMIT_COUNT
};

/* A limit of the container's cgroup, as read from the kernel. */
struct dw_docker_enforced {
	uint64_t kernel;  /* in units of struct dw_limits; 0: unknown */
	uint32_t version; /* of the cgroup that enforces it; 0: none */
	uint32_t swap;    /* memory: 1 if swap is not limited */
};

struct dw_docker_made {
	char image[256];
	char runtime[64];
	struct dw_docker_enforced enforced[DW_DOCKER_LIMIT_COUNT];
};

struct dw_docker_end {
	struct dw_report_end end;
	uint64_t memory_peak; /* bytes; 0: not measured */
	uint64_t cpu_ns;      /* 0: not measured */
	uint32_t oom;         /* 1: the kernel killed a process for lack of memory */
	uint32_t pids;        /* 1: the kernel refused a fork */
};

struct dw_docker_report {
	uint32_t kind;
	uint32_t pad;
	union {
		struct dw_docker_made made;
		struct dw_walls walls;
		struct dw_docker_end end;
		struct dw_error error;
		char text[512];
	};
};

#define DW_DOCKER_FD 3

#endif
