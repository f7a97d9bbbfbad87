/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WIRE_ENTER_H
#define DW_WIRE_ENTER_H

#include <stdint.h>

/*
 * What dewar says to a zygote, to a program that waits in its cell, and what
 * they answer: one packet a message, over sockets of type SOCK_SEQPACKET.
 *
 * A zygote (runners/zygote.c) has its socket as descriptor 0. It gets orders, and
 * answers each once with a dw_zygote_reply. A program that waits has a socket of
 * its own, descriptor 3 until it has its job: it says once that it is ready,
 * gets the job, closes the socket, and does the job.
 *
 * This header is read by a library without a libc: types, and nothing else.
 */

#define DW_ENTER_MAGIC 0x31454457U
#define DW_JOB_MAGIC 0x314c4457U

#define DW_ENTER_RLIMITS_MAX 12U
#define DW_ENTER_CGROUPS_MAX 3U
#define DW_ENTER_FDS_MAX 9U /* the fixed ones and the cgroups */
#define DW_JOB_FD 3

enum dw_order {
	DW_ORDER_TRIAL = 1, /* fork, run what is in this cell, learn its pages */
	DW_ORDER_FORK,      /* fork into the cell whose descriptors come along */
};

/* The descriptors of DW_ORDER_FORK, in this order; the cgroups follow. */
enum dw_enter_fd {
	DW_ENTER_INIT = 0, /* a pidfd: whose namespaces to enter */
	DW_ENTER_JOB,
	DW_ENTER_STDIN,
	DW_ENTER_STDOUT,
	DW_ENTER_STDERR,
	DW_ENTER_RULESET, /* of Landlock; if has_ruleset, else it is missing */
};

struct dw_enter {
	uint32_t magic;
	uint32_t order;
	uint32_t id; /* uid and gid in the cell */
	uint32_t has_ruleset;
	uint32_t hold;       /* the program's memory, beyond its end (hold.S) */
	uint32_t touch;      /* write ahead what a run writes: there is time for it */
	uint32_t calls_back; /* the runner asks for its job itself: dewar_wait() */
	uint32_t n_cgroups;
	uint32_t n_rlimits;
	struct {
		uint32_t resource;
		uint32_t pad;
		uint64_t value;
	} rlimits[DW_ENTER_RLIMITS_MAX];
	char cwd[16];
};

/* How far it got, in words: "" if all went well, else what failed. */
struct dw_zygote_reply {
	uint32_t magic;
	int32_t eno;
	uint32_t pages; /* DW_ORDER_TRIAL: how many a run writes */
	uint32_t pad;
	char failed[48];
};

/* From the program that waits. */
struct dw_ready {
	uint32_t magic;
	int32_t pid; /* as its cell sees it; 0: it failed */
	int32_t eno;
	uint32_t pad;
	char failed[48];
};

/*
 * The job: this header, and len bytes of records behind it, each
 *
 *	u32 kind, u32 name's length, u32 data's length, the name, the data
 *
 * without padding. If it is long, the records are in a memfd that comes along.
 */
enum dw_job_kind {
	DW_JOB_FILE = 1, /* name: its path; is made before the code runs */
	DW_JOB_CODE,     /* the same, and it is the code */
	DW_JOB_ARG,
	DW_JOB_ENV,
	DW_JOB_HOOK, /* the text that holds the code to the modules in name: "a,b" */
};

struct dw_job {
	uint32_t magic;
	uint32_t n_records;
	uint32_t len;
	uint32_t in_memfd;
};

/* What goes along with the header itself. */
#define DW_JOB_INLINE 16000U

#endif
