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
 * Dewar sends one byte with the descriptors of the plan and of the cgroups to join. The
 * launcher starts up while dewar writes the plan. Then it reports, in order:
 *
 *	HANDED   the launcher goes on as another process, in another pid namespace
 *	HELLO    the cell's first process exists; its pidfd comes along
 *	NETWORK  its network namespace exists; dewar answers with one byte
 *	USERNS   a descriptor of its user namespace comes along, if the plan asked
 *	PIDNS    and one of its pid namespace
 *	TMP      a descriptor of the cell's /tmp comes along, if the plan asked
 *	EMPTY    the cell is built, without a program: a zygote may fork one into it
 *	         (enter.h); its Landlock ruleset comes along, if there is one
 *	START    from here on errors may be the program's
 *	WALLS    all walls are up; what the kernel says of them
 *	END      every process of the cell but init has ended
 *
 * or, at any point, ERROR. A program that waits (DW_PLAN_ENTERED, DW_PLAN_JOB)
 * makes dewar send two messages: READY when it waits, GO when it has its job. Any
 * other message ends the cell, and so does closing our end. Only our own code has the
 * socket: it is closed before the program's first instruction.
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

/* Where the launcher failed, as far as that helps to find the cause. */
enum dw_report_stage {
	DW_STAGE_OTHER = 0,
	DW_STAGE_SPAWN,      /* dewar itself: the launcher was never started */
	DW_STAGE_SOURCES,    /* open the host's trees, as detached copies */
	DW_STAGE_NAMESPACES, /* clone into new ones */
	DW_STAGE_INSIDE, /* first use of the rights in there: ids, host name, network */
	DW_STAGE_PROC,   /* mount a proc of the cell's own */
	DW_STAGE_MOUNTS, /* build the root, and move in */
	DW_STAGE_COUNT
};

/* What init measured. A peak of 0 is "not measured". */
struct dw_report_end {
	int32_t wait_status;  /* as waitpid() gives it */
	uint32_t hit;         /* enum dw_reason of a limit that init enforced, or EXIT */
	uint64_t run_ns;      /* from exec, or from GO, to end */
	uint64_t cpu_ns;      /* of all in the cell, init too, since then */
	uint64_t peak_memory; /* bytes, sampled */
	uint64_t max_rss;     /* bytes, of the largest process that init reaped */
	uint64_t peak_pids;   /* sampled */
	uint32_t tmp_full;    /* no block, or no inode, is left in /tmp */
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

/* What dewar sends to the init of a program that waits. */
enum dw_init_message_kind {
	DW_INIT_READY = 0x52,
	DW_INIT_GO = 0x47,
};

struct dw_init_message {
	uint32_t kind;
	int32_t pid;          /* READY: of the program, as its cell sees it; or 0 */
	uint64_t at_ns;       /* GO: when, by the monotonic clock */
	uint64_t deadline_ms; /* GO: from then on; 0 for none */
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

/* Create a sealed memfd from the parts. Its descriptor, or -1. */
int dw_report_seal(const char *name, const struct iovec *parts, size_t n,
                   struct dw_error *err);

/* Map a memfd, until we exit. NULL if it is not sealed: it could change once checked. */
void *dw_report_map(int fd, size_t *ret_len);

/* Returns true if the kind is known and all fields are valid for it. */
bool dw_report_is_sound(const struct dw_report *report);

/* Send descriptors, with one byte. 0 or -errno. */
int dw_report_send_fds(int sock, const int *fds, int n);

/* Send data of a fixed length, with descriptors. 0 or -errno. */
int dw_report_send_data(int sock, const void *data, size_t len, const int *fds, int n);

/* Wait for that. Its length, 0 if the other end is closed, or -errno. */
ssize_t dw_report_receive_data(int sock, void *data, size_t len,
                               int ret[DW_REPORT_FDS_MAX], int *ret_n);

/* Wait for descriptors. Their number, 0 if the other end is closed, or -errno. */
int dw_report_receive_fds(int sock, int ret[DW_REPORT_FDS_MAX]);

/* Send one, with a descriptor if fd is not -1. 0 or -errno. */
int dw_report_send(int sock, const struct dw_report *report, int fd);

/*
 * Receive one without waiting. *ret_fd is -1 or a descriptor, which the caller owns. 1; 0
 * at the end; or -errno: -EAGAIN without a report, -EPROTO if it is malformed.
 */
int dw_report_receive(int sock, struct dw_report *ret, int *ret_fd);

#endif
