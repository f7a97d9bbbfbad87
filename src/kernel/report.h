/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_KERNEL_REPORT_H
#define DW_KERNEL_REPORT_H

#include <stdint.h>

#include "dewar/error.h"
#include "dewar/result.h"

/*
 * What dewar and dewar-launch say to each other, one packet a message, over a
 * socket pair of type SOCK_SEQPACKET.
 *
 * Dewar begins: one byte, and with it the descriptors of the plan and of the
 * cgroups to join. The launcher is started before the plan is written, so that
 * one starts up while the other writes. Then it reports, in order:
 *
 *	HELLO    the cell's first process is there; its pidfd comes along
 *	NETWORK  its network namespace is there; we answer with one byte
 *	TMP      a descriptor of the cell's /tmp comes along, if the plan asked
 *	START    from here on it is the program's affair
 *	WALLS    all walls stand, and this is what the kernel says of them
 *	END      the program has ended, and everything else with it
 *
 * or, at any point, ERROR. Only our own code ever holds the socket: it is gone
 * before the program's first instruction. We keep our end open as long as the
 * cell shall live: when it closes, init ends the cell.
 */
enum dw_report_kind {
	DW_REPORT_HELLO = 1,
	DW_REPORT_NETWORK,
	DW_REPORT_TMP,
	DW_REPORT_START,
	DW_REPORT_WALLS,
	DW_REPORT_END,
	DW_REPORT_ERROR,
};

/* What init saw. 0 stands for "not measured" in the peaks. */
struct dw_report_end {
	int32_t wait_status;  /* as waitpid() gives it */
	uint32_t hit;         /* enum dw_reason of a limit that init held, or EXIT */
	uint64_t run_ns;      /* from exec to end */
	uint64_t peak_memory; /* bytes, sampled */
	uint64_t peak_pids;   /* sampled */
	uint32_t tmp_full;    /* no block, or no inode, is left in /tmp */
	uint32_t pad;
};

struct dw_report {
	uint32_t kind;
	int32_t pid; /* HELLO: as the sender's parent sees it */
	union {
		struct dw_walls walls;
		struct dw_report_end end;
		struct dw_error error;
	};
};

#define DW_REPORT_FDS_MAX 8

/* Hand descriptors over, with one byte. 0 or -errno. */
int dw_report_send_fds(int sock, const int *fds, int n);

/* Wait for them. Their number, 0 if the other side is gone, or -errno. */
int dw_report_receive_fds(int sock, int ret[DW_REPORT_FDS_MAX]);

/* Send one, with a descriptor if fd is not -1. 0 or -errno. */
int dw_report_send(int sock, const struct dw_report *report, int fd);

/*
 * Receive one; *ret_fd is -1, or a descriptor that is the caller's now. 1, or 0
 * at the end, or -errno (-EAGAIN if none is there, -EPROTO if it is not ours).
 */
int dw_report_receive(int sock, struct dw_report *ret, int *ret_fd);

#endif
