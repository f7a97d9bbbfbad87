/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WIRE_REPORT_H
#define DW_WIRE_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "dewar/error.h"
#include "dewar/result.h"

/*
 * The protocol between dewar and dewar-launch: one packet for each message, over a
 * SOCK_SEQPACKET pair.
 *
 * Dewar sends one byte with descriptors: the plan, those that the plan's flags announce
 * (read_plan() in launch/main.c), and the cgroups to join. The launcher starts up while
 * dewar writes the plan. Then it reports, in this order, as far as the plan requires:
 *
 *	HANDED   the launcher goes on as another process, in another pid namespace
 *	HELLO    the cell's first process exists; its pidfd is attached
 *	NETWORK  the cell's network namespace exists; dewar answers with one byte
 *	USERNS   a descriptor of the cell's user namespace is attached
 *	PIDNS    and one of its pid namespace
 *	TMP      a descriptor of the cell's /tmp is attached
 *	EMPTY    the cell is built, without a program: a zygote may fork one into it
 *	         (enter.h); the cell's Landlock ruleset is attached, if there is one
 *	START    from here on the program may be the cause of an error
 *	WALLS    all walls are up; the walls as read back from the kernel
 *	END      every process of the cell but init has ended
 *
 * or, at any point, ERROR. If the program waits for a job (DW_PLAN_ENTERED,
 * DW_PLAN_JOB), dewar sends init two messages: READY when the program waits, GO when it
 * has its job. Any other message ends the cell, and so does closing dewar's end. Only our
 * own code has the socket: it is closed before the program's first instruction.
 */
enum dw_report_kind {
	DW_REPORT_HANDED = 1,
	DW_REPORT_HELLO,
	DW_REPORT_NETWORK,
	DW_REPORT_USERNS,
	DW_REPORT_PIDNS,
	DW_REPORT_TMP,
	DW_REPORT_EMPTY,
	DW_REPORT_START,
	DW_REPORT_WALLS,
	DW_REPORT_END,
	DW_REPORT_ERROR,
};

/* The stage in which the launcher failed, as far as it helps to find the cause. */
enum dw_report_stage {
	DW_STAGE_OTHER = 0,
	DW_STAGE_SPAWN,      /* dewar itself: the launcher was never started */
	DW_STAGE_SOURCES,    /* open the host's trees, as detached copies */
	DW_STAGE_NAMESPACES, /* clone into new namespaces */
	DW_STAGE_INSIDE,     /* first use of capabilities in them: ids, host name, lo */
	DW_STAGE_PROC,       /* mount a proc of the cell's own */
	DW_STAGE_MOUNTS,     /* build the root, and move in */
	DW_STAGE_COUNT
};

/* Init's measurements. A peak of 0 means "not measured". */
struct dw_report_end {
	int32_t wait_status;  /* as waitpid() gives it */
	uint32_t hit;         /* enum dw_reason of a limit that init enforced, or EXIT */
	uint64_t run_ns;      /* from exec, or from GO, to the program's end */
	uint64_t cpu_ns;      /* of all in the cell, with init; if warm, from READY */
	uint64_t peak_memory; /* bytes, sampled */
	uint64_t max_rss;     /* bytes, of the largest process that init reaped */
	uint64_t peak_pids;   /* sampled */
	uint32_t tmp_full;    /* 1 if no block, or no inode, is left in /tmp */
	uint32_t pad;
};

struct dw_report {
	uint32_t kind;
	int32_t pid;    /* HANDED, HELLO: as the sender sees it */
	uint32_t stage; /* ERROR: enum dw_report_stage */
	uint32_t pad;
	union {
		struct dw_walls walls;
		struct dw_report_end end;
		struct dw_error error;
	};
};

/* Dewar sends these to init while the program waits for its job. */
enum dw_init_message_kind {
	DW_INIT_READY = 0x52,
	DW_INIT_GO = 0x47,
};

struct dw_init_message {
	uint32_t kind;
	int32_t pid;          /* READY: the program's, as its cell sees it; or 0 */
	uint64_t at_ns;       /* GO: when the run began (monotonic clock) */
	uint64_t deadline_ms; /* GO: counted from at_ns; 0: no deadline */
};

/* The only reply of dewar-scope; on success with a descriptor of the scope's folder. */
#define DW_SCOPE_MAGIC 0x31534457U
struct dw_scope_reply {
	uint32_t magic;
	char failed[156]; /* the reason, or "" */
};

#define DW_REPORT_FDS_MAX 10

/* A sealed memfd can neither change nor be unsealed. */
#define DW_REPORT_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* Create a sealed memfd from the parts. Returns its descriptor, or -1. */
int dw_report_seal(const char *name, const struct iovec *parts, size_t n,
                   struct dw_error *err);

/* Map a memfd, until we exit. NULL if it is not sealed: it could change after checks. */
void *dw_report_map(int fd, size_t *ret_len);

/* Returns true if the kind is known and all fields are valid for it. */
bool dw_report_is_sound(const struct dw_report *report);

/* Send descriptors, with one byte. Returns 0 or -errno. */
int dw_report_send_fds(int sock, const int *fds, int n);

/* Send data of a fixed length, with descriptors. Returns 0 or -errno. */
int dw_report_send_data(int sock, const void *data, size_t len, const int *fds, int n);

/* Wait for such data. Returns its length, 0 if the other end is closed, or -errno. */
ssize_t dw_report_receive_data(int sock, void *data, size_t len,
                               int ret[DW_REPORT_FDS_MAX], int *ret_n);

/* Wait for descriptors. Returns how many, 0 if the other end is closed, or -errno. */
int dw_report_receive_fds(int sock, int ret[DW_REPORT_FDS_MAX]);

/* Send a report, with a descriptor if fd is not -1. Returns 0 or -errno. */
int dw_report_send(int sock, const struct dw_report *report, int fd);

/*
 * Receive a report without waiting. *ret_fd is -1 or a descriptor, which the caller owns.
 * Returns 1, 0 if the other end is closed, or -errno: -EAGAIN if there is no report,
 * -EPROTO if it is malformed.
 */
int dw_report_receive(int sock, struct dw_report *ret, int *ret_fd);

#endif
