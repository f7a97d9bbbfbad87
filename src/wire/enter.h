/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WIRE_ENTER_H
#define DW_WIRE_ENTER_H

#include <stdint.h>

/*
 * Two protocols: between dewar and a zygote, and between dewar and a program that waits
 * in its cell. One packet for each message, over SOCK_SEQPACKET sockets.
 *
 * A zygote (runners/zygote.c) has its socket as descriptor 0 and answers each order with one
 * dw_zygote_reply. A program that waits has its own socket, descriptor 3: it sends
 * dw_ready once, receives the job, closes the socket, and runs the job.
 *
 * A library without a libc includes this header, so it has types only.
 */

#define DW_ENTER_MAGIC 0x31454457U
#define DW_JOB_MAGIC 0x314c4457U

#define DW_ENTER_RLIMITS_MAX 12U
#define DW_ENTER_CGROUPS_MAX 3U
#define DW_ENTER_FDS_MAX 9U /* those of enum dw_enter_fd and the cgroups */
#define DW_JOB_FD 3

enum dw_order {
	DW_ORDER_TRIAL = 1, /* fork, run the job in this cell, note the pages it writes */
	DW_ORDER_FORK,      /* fork into the cell whose descriptors are attached */
};

/* The descriptors of DW_ORDER_FORK, in this order; the cgroups follow. */
enum dw_enter_fd {
	DW_ENTER_INIT = 0, /* a pidfd of the init whose namespaces to enter */
	DW_ENTER_JOB,
	DW_ENTER_STDIN,
	DW_ENTER_STDOUT,
	DW_ENTER_STDERR,
	DW_ENTER_RULESET, /* of Landlock; only if has_ruleset */
};

struct dw_enter {
	uint32_t magic;
	uint32_t order;
	uint32_t id; /* uid and gid in the cell */
	uint32_t has_ruleset;
	uint32_t hold;       /* keep the program's memory beyond its end (hold.S) */
	uint32_t touch;      /* touch the pages that a run writes, ahead of the run */
	uint32_t calls_back; /* the runner calls dewar_wait() for its job */
	uint32_t n_cgroups;
	uint32_t n_rlimits;
	struct {
		uint32_t resource;
		uint32_t pad;
		uint64_t value;
	} rlimits[DW_ENTER_RLIMITS_MAX];
	char cwd[16];
};

/* failed is "" on success. */
struct dw_zygote_reply {
	uint32_t magic;
	int32_t eno;
	uint32_t pages; /* DW_ORDER_TRIAL: how many pages a run writes */
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
 * without padding. If the records are long, they are in a memfd, which is attached.
 */
enum dw_job_kind {
	DW_JOB_FILE = 1, /* name: its path; created before the code runs */
	DW_JOB_CODE,     /* the same, for the file that is the code */
	DW_JOB_ARG,
	DW_JOB_ENV,
	DW_JOB_HOOK, /* the hook that restricts imports to the modules in name: "a,b" */
};

struct dw_job {
	uint32_t magic;
	uint32_t n_records;
	uint32_t len;
	uint32_t in_memfd;
};

/* Records of at most this length are sent in the same packet as the header. */
#define DW_JOB_INLINE 16000U

#endif
