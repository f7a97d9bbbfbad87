/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "approvals/approvals_own.h"
#include "base/clock.h"
#include "base/utf8.h"

/* ---- decide ---- */

static int check_decision(const struct dw_ruling *decision, struct dw_error *err)
{
	const char *note = decision->note ? decision->note : "";
	size_t len = strlen(note);

	if (!decision->who || decision->who[0] == '\0' ||
	    strlen(decision->who) > DW_APPROVALS_TEXT_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "a decision needs the name of its approver");
	if (!decision->yes && decision->remember != DW_REMEMBER_NO)
		return dw_fail(err, DW_E_INVALID, 0,
		               "only an approval can be remembered, not a denial");
	if (len > DW_APPROVALS_TEXT_MAX || !dw_utf8_valid(note, len))
		return dw_fail(err, DW_E_INVALID, 0,
		               "a note must be UTF-8, at most %d bytes",
		               DW_APPROVALS_TEXT_MAX);
	return 0;
}

static int apply(struct dw_approval *q, const struct dw_ruling *decision,
                 struct dw_error *err)
{
	char *who = strdup(decision->who);
	char *note = strdup(decision->note ? decision->note : "");

	if (!who || !note) {
		free(who);
		free(note);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot store the decision");
	}
	free(q->decided_by);
	free(q->note);
	q->decided_by = who;
	q->note = note;
	q->state = decision->yes ? DW_APPROVAL_APPROVED : DW_APPROVAL_DENIED;
	q->decided_us = dw_wall_us();
	q->remember = decision->remember;
	return 0;
}

static int store_decision(struct dw_approvals *a, const struct dw_approval *q,
                          struct dw_error *err)
{
	sqlite3_stmt *stmt = dw_sqlite_prepare(
		&a->store,
		"UPDATE question SET state = ?2, decided_by = ?3, note = ?4, "
		"decided_us = ?5, remember = ?6, "
		"expires_us = CASE ?2 WHEN 1 THEN ?5 + use_us ELSE expires_us END "
		"WHERE id = ?1 AND state = 0",
		err);
	int r;

	DW_SQL_BIND(stmt, DW_SQL_TEXT(q->id), DW_SQL_NUMBER(q->state),
	            DW_SQL_TEXT(q->decided_by), DW_SQL_TEXT(q->note),
	            DW_SQL_NUMBER(q->decided_us), DW_SQL_NUMBER(q->remember));
	r = dw_sqlite_change(&a->store, stmt, err);
	/* Cannot happen: it was pending in this transaction. */
	if (r == 0)
		return dw_fail(err, DW_E_INTERNAL, 0, "approval %s no longer exists",
		               q->id);
	return r < 0 ? -1 : 0;
}

static int decide(struct dw_approvals *a, const char *id,
                  const struct dw_ruling *decision, struct dw_approval *ret,
                  struct dw_error *err)
{
	if (dw_approvals_find(a, id, ret, err) < 0)
		return -1;
	if (ret->state != DW_APPROVAL_PENDING)
		return 1;
	if (decision->yes && !decision->allow_self && !ret->allow_self &&
	    dw_approvals_same(decision->who, ret->who))
		return dw_fail(
			err, DW_E_DENIED, 0,
			"%.200s submitted this request; another person must approve it",
			ret->who);
	if (apply(ret, decision, err) < 0 || store_decision(a, ret, err) < 0)
		return -1;
	if (decision->remember != DW_REMEMBER_NO &&
	    dw_approvals_remember(a, ret, err) < 0)
		return -1;
	/* Read the row again: expires_us may now be the time to use the approval by. */
	dw_approval_finish(ret);
	return dw_approvals_find(a, id, ret, err);
}

int dw_approvals_decide(struct dw_approvals *a, const char *id,
                        const struct dw_ruling *decision, struct dw_approval *ret,
                        struct dw_error *err)
{
	struct dw_approval found = {0};
	int r;

	if (check_decision(decision, err) < 0 || dw_approvals_begin(a, err) < 0)
		return -1;
	r = dw_approvals_end(a, decide(a, id, decision, &found, err), err);
	if (r >= 0 && ret)
		*ret = found;
	else
		dw_approval_finish(&found);
	return r;
}

/* ---- use ---- */

static int check_use(const struct dw_approval *q, const char *who, const char *hash,
                     struct dw_error *err)
{
	char line[DW_APPROVAL_LINE_MAX];

	if (!dw_approvals_same(who, q->who))
		return dw_fail(err, DW_E_DENIED, 0,
		               "approval %s belongs to another caller", q->id);
	if (strcmp(hash, q->hash) != 0)
		return dw_fail(err, DW_E_DENIED, 0, "approval %s is for another request",
		               q->id);
	if (q->state == DW_APPROVAL_USED)
		return dw_fail(err, DW_E_BUSY, 0,
		               "approval %s was already used for run %s; request a new "
		               "one",
		               q->id, q->used_by);
	if (q->state != DW_APPROVAL_APPROVED) {
		dw_approval_line(q, line);
		return dw_fail(err, DW_E_DENIED, 0, "not approved: %.400s", line);
	}
	return 0;
}

static int use(struct dw_approvals *a, const char *id, const char *who, const char *run,
               const char *hash, struct dw_error *err)
{
	struct dw_approval q = {0};
	int r = dw_approvals_find(a, id, &q, err);

	if (r == 0)
		r = check_use(&q, who, hash, err);
	_Static_assert(DW_APPROVAL_USED == 4, "the statement uses this number");
	if (r == 0) {
		sqlite3_stmt *stmt = dw_sqlite_prepare(
			&a->store,
			"UPDATE question SET state = 4, used_us = ?, used_by = ? "
			"WHERE id = ? AND state = 1",
			err);

		DW_SQL_BIND(stmt, DW_SQL_NUMBER(dw_wall_us()), DW_SQL_TEXT(run),
		            DW_SQL_TEXT(q.id));
		r = dw_sqlite_change(&a->store, stmt, err);
		if (r == 0)
			r = dw_fail(err, DW_E_INTERNAL, 0, "approval %s no longer exists",
			            q.id);
	}
	dw_approval_finish(&q);
	return r < 0 ? -1 : 0;
}

int dw_approvals_use(struct dw_approvals *a, const char *id, const char *who,
                     const char *run, const struct dw_request *req, struct dw_error *err)
{
	char hash[DW_APPROVAL_HASH_MAX];

	if (strlen(id) != DW_ID_MAX - 1 || strlen(run) >= DW_ID_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "an approval must be named by its whole id");
	dw_approval_digest(req, hash);
	if (dw_approvals_begin(a, err) < 0)
		return -1;
	return dw_approvals_end(a, use(a, id, who, run, hash, err), err);
}

static int give_back(struct dw_approvals *a, const char *id, const char *run,
                     struct dw_error *err)
{
	sqlite3_stmt *stmt =
		dw_sqlite_prepare(&a->store,
	                          "UPDATE question SET state = 1, used_us = 0, used_by = '' "
	                          "WHERE id = ? AND state = 4 AND used_by = ?",
	                          err);
	int r;

	DW_SQL_BIND(stmt, DW_SQL_TEXT(id), DW_SQL_TEXT(run));
	r = dw_sqlite_change(&a->store, stmt, err);
	if (r == 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "run %s has not used approval %s",
		               run, id);
	return r < 0 ? -1 : 0;
}

int dw_approvals_give_back(struct dw_approvals *a, const char *id, const char *run,
                           struct dw_error *err)
{
	if (dw_approvals_begin(a, err) < 0)
		return -1;
	return dw_approvals_end(a, give_back(a, id, run, err), err);
}
