/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_APPROVALS_OWN_H
#define DW_APPROVALS_APPROVALS_OWN_H

#include <pthread.h>

#include "approvals/approvals.h"
#include "base/sqlite.h"

/* Private to src/approvals. */

struct dw_approvals {
	char *path;
	bool make;                         /* create the file again if it is removed */
	struct dw_approvals_config config; /* with the defaults filled in */
	char epoch[DW_ID_MAX]; /* the session of callers without one; new at each open */

	pthread_mutex_t lock; /* guards what follows */
	struct dw_sqlite store;
	int64_t version;     /* of the file, at the last check */
	uint64_t checked_ms; /* the time of that check */
	uint64_t generation; /* increases when something may have changed */
};

#define DW_APPROVALS_SESSION_US INT64_C(86400000000) /* a session lasts at most a day */

/* The length of the identity in a caller's name: the part before the first blank. */
size_t dw_approvals_identity(const char *who);
bool dw_approvals_same(const char *who, const char *other);

/* The identity as a parameter of an SQL statement, for the column "caller". */
#define DW_SQL_CALLER(who) DW_SQL_CUT(who, dw_approvals_identity(who))

/* Lock, and reopen the file if it was replaced. Returns 0 with the lock held. */
int dw_approvals_enter(struct dw_approvals *a, struct dw_error *err);
void dw_approvals_leave(struct dw_approvals *a);

/*
 * dw_approvals_begin() also begins a transaction, and marks all overdue approvals as
 * expired. dw_approvals_end() commits, or rolls back if r, the result of the work, is
 * below 0; it returns r, or -1 if the commit fails.
 */
int dw_approvals_begin(struct dw_approvals *a, struct dw_error *err);
int dw_approvals_end(struct dw_approvals *a, int r, struct dw_error *err);

/* ---- rows.c ---- */

/* In the order that dw_approvals_row() reads. */
#define DW_APPROVALS_COLUMNS                                                 \
	/* prose: allow who is a column */                                   \
	"id, run, hash, memory, used_by, who, door, session, rule, reason, " \
	"findings, request, decided_by, note, state, allow_self, remember, " \
	"asked_us, expires_us, decided_us, used_us"

/* Copy the row. An overdue approval counts as expired, whatever its row says. */
int dw_approvals_row(sqlite3_stmt *stmt, struct dw_approval *ret, struct dw_error *err);

int dw_approvals_insert(struct dw_approvals *a, const struct dw_approval *row,
                        struct dw_error *err);

/* By id or prefix, as dw_approvals_get(). */
int dw_approvals_find(struct dw_approvals *a, const char *id, struct dw_approval *ret,
                      struct dw_error *err);

/* Check that this is an id or a prefix of one. */
int dw_approvals_check_id(const char *id, struct dw_error *err);

/* ---- memory.c ---- */

/* Approve the draft if a remembered approval covers it: 1 if so, 0 if not, or -1. */
int dw_approvals_recall(struct dw_approvals *a, struct dw_approval *draft,
                        struct dw_error *err);

/*
 * Remember the approval, and approve all pending requests that it covers. The caller has
 * begun a transaction.
 */
int dw_approvals_remember(struct dw_approvals *a, const struct dw_approval *yes,
                          struct dw_error *err);

#endif
