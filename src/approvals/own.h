/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_OWN_H
#define DW_APPROVALS_OWN_H

#include <pthread.h>

#include "approvals/approvals.h"
#include "base/sqlite.h"

/* What the files of this folder share, and nobody else sees. */

struct dw_approvals {
	char *path;
	bool make;                         /* the file anew, if somebody takes it away */
	struct dw_approvals_config config; /* without zeroes */
	char epoch[DW_ID_MAX]; /* the session of who has none: ours, as long as it is */

	pthread_mutex_t lock; /* guards what follows */
	struct dw_sqlite store;
	int64_t version;     /* of the file, when we last looked ... */
	uint64_t looked_ms;  /* ... and when that was */
	uint64_t generation; /* goes up when something may have changed */
};

#define DW_APPROVALS_SESSION_US INT64_C(86400000000) /* a session lasts a day at most */

extern const struct dw_sqlite_kind dw_approvals_kind;

int64_t dw_approvals_now_us(void);

/* How much of it says who it is: what is in front of the first blank. */
size_t dw_approvals_identity(const char *who);
bool dw_approvals_same(const char *who, const char *other);

/* Lock, and see that the file is the one at the path. 0 with the lock held. */
int dw_approvals_enter(struct dw_approvals *a, struct dw_error *err);
void dw_approvals_leave(struct dw_approvals *a);

/*
 * The same with a transaction, in which all that is past its time has expired. End it
 * with what came of it: below 0 nothing of it stays. r, or -1 if it cannot be written.
 */
int dw_approvals_begin(struct dw_approvals *a, struct dw_error *err);
int dw_approvals_end(struct dw_approvals *a, int r, struct dw_error *err);

/* Run a statement that was bound, and finish it: how many rows changed, or -1. */
int dw_approvals_run(struct dw_approvals *a, sqlite3_stmt *stmt, struct dw_error *err);

/* ---- rows.c ---- */

/* In the order of the struct; for dw_approvals_row(). */
#define DW_APPROVALS_COLUMNS                                                 \
	"id, run, hash, memory, used_by, who, door, session, rule, reason, " \
	"findings, request, decided_by, note, state, allow_self, remember, " \
	"asked_us, expires_us, decided_us, used_us"

/* Make a copy of the row. What is past its time is expired, whatever the row says. */
int dw_approvals_row(sqlite3_stmt *stmt, struct dw_approval *ret, struct dw_error *err);

int dw_approvals_insert(struct dw_approvals *a, const struct dw_approval *row,
                        struct dw_error *err);

/* By id or prefix, as dw_approvals_get(). */
int dw_approvals_find(struct dw_approvals *a, const char *id, struct dw_approval *ret,
                      struct dw_error *err);

/* Is that an id, or the beginning of one? */
int dw_approvals_check_id(const char *id, struct dw_error *err);

/* ---- memory.c ---- */

/* Answer it by what is remembered: 1 if it did, 0 if nothing is, -1. */
int dw_approvals_recall(struct dw_approvals *a, struct dw_approval *draft,
                        struct dw_error *err);

/* Remember the yes, and answer what else is pending by it. In a transaction. */
int dw_approvals_remember(struct dw_approvals *a, const struct dw_approval *yes,
                          struct dw_error *err);

#endif
