/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_RANGE_H
#define DW_VERIFY_RANGE_H

#include <stdbool.h>

#include "dewar/error.h"

/*
 * The range: namespaces of our own in which attacks may succeed without
 * anybody being hurt.
 *
 *   network  every address there is leads to our own listeners; one for each attempt
 *   mount    a tmpfs for what is planted; some folders of the host's, and
 *            /etc/shadow, /etc/machine-id and /etc/hostname, are covered by
 *            planted ones
 *   pid      nothing outlives us, and kill(-1) finds nobody else
 *   uts, ipc names and queues of our own
 *   user     unless we are root: there we are as mighty as root is outside
 *
 * An engine makes its containers elsewhere, out of what it sees itself: its own mounts,
 * processes and network. So what is tried there is tried from outside: in the
 * namespaces that we were started in, with a folder of the host's own for what is
 * planted, and with no name, mount or packet filter of the host changed.
 */

struct dw_place {
	const char *name; /* of what covers it; attacks know folders by it: DW_MNT */
	const char *path; /* of the host */
};

struct dw_range {
	char base[40]; /* of what is planted */
	bool root;     /* of the host */
	bool outside;  /* this is no range of ours, but the host as it is */
	int leash;     /* outside: it hangs up when the suite is over; else -1 */
	/* Folders of the host's that are ours here; ends in a row without name. */
	struct dw_place places[8];
	struct dw_place files[4]; /* of /etc, likewise */
	char attacks[256];        /* where a warm cell, too, finds those in C, or "" */
};

/*
 * Returns in a child of ours that is pid 1 of the range; the calling process
 * waits for it, passes signals on to it, and ends with its status. keep: paths that must
 * stay as they are, the last of them the program with the attacks in C.
 */
int dw_range_enter(struct dw_range *range, const char *const *keep, struct dw_error *err);

/* In the range: SIGINT, SIGTERM and SIGHUP, which are blocked until there are handlers. */
void dw_range_take_signals(void);

/*
 * Cover files again that another program has replaced, as useradd replaces /etc/shadow:
 * the kernel then removes the mount on the old file.
 */
void dw_range_cover_again(const struct dw_range *range);

/* The host itself, with a new folder for what is planted. */
int dw_range_outside(struct dw_range *range, int leash, struct dw_error *err);
void dw_range_leave(const struct dw_range *range);

/*
 * Leave the network for a new one, which no packet has crossed yet: what an
 * earlier attack sent may be sent again much later.
 */
int dw_range_new_network(struct dw_error *err);

#endif
