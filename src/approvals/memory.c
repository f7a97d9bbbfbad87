/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approvals/approvals_own.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"

#define MEMORIES_MAX 10000

/* Which approvals a remembered one covers; bind_approval() sets the parameters. */
static const char *const covers[] = {
	[DW_REMEMBER_CODE] = "hash = ?2",
	[DW_REMEMBER_SESSION] = "session = ?3 AND rule = ?4",
	[DW_REMEMBER_RULE] = "rule = ?4",
};
_Static_assert(ARRAY_SIZE(covers) == DW_REMEMBER_COUNT, "a condition for each");

static void bind_approval(sqlite3_stmt *stmt, const struct dw_approval *q)
{
	DW_SQL_BIND(stmt, DW_SQL_CALLER(q->who), DW_SQL_TEXT(q->hash),
	            DW_SQL_TEXT(q->session), DW_SQL_TEXT(q->rule));
}

static int copy_column(char **ret, sqlite3_stmt *stmt, int column, struct dw_error *err)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	char *copy = strdup(text ? text : "");

	if (!copy)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM,
		               "cannot read a remembered approval");
	free(*ret);
	*ret = copy;
	return 0;
}

int dw_approvals_recall(struct dw_approvals *a, struct dw_approval *draft,
                        struct dw_error *err)
{
	/* dw_approvals_begin() has removed expired memories. */
	autostmt sqlite3_stmt *stmt = dw_sqlite_prepare(
		&a->store,
		"SELECT id, decided_by, note FROM memory WHERE caller = ?1 AND "
		"(kind = 1 AND hash = ?2 OR kind = 2 AND session = ?3 AND rule = ?4 OR "
		"kind = 3 AND rule = ?4) ORDER BY kind LIMIT 1",
		err);
	int r;

	_Static_assert(DW_REMEMBER_CODE == 1 && DW_REMEMBER_SESSION == 2 &&
	                       DW_REMEMBER_RULE == 3,
	               "the statement uses these numbers");
	bind_approval(stmt, draft);
	r = dw_sqlite_step(&a->store, stmt, err);
	if (r <= 0)
		return r;
	(void)snprintf(draft->memory, sizeof(draft->memory), "%s",
	               (const char *)sqlite3_column_text(stmt, 0));
	if (copy_column(&draft->decided_by, stmt, 1, err) < 0 ||
	    copy_column(&draft->note, stmt, 2, err) < 0)
		return -1;
	draft->state = DW_APPROVAL_APPROVED;
	draft->decided_us = draft->asked_us;
	draft->expires_us = draft->asked_us + (int64_t)a->config.use_ms * 1000;
	return 1;
}

static int check_room(struct dw_approvals *a, struct dw_error *err)
{
	sqlite3_stmt *stmt = dw_sqlite_prepare(&a->store, "SELECT count(*) FROM memory",
	                                       err);
	int64_t n = 0;

	if (dw_sqlite_number(&a->store, stmt, 0, &n, err) < 0)
		return -1;
	if (n >= MEMORIES_MAX)
		return dw_fail(err, DW_E_BUSY, 0,
		               "%d approvals are remembered, which is the limit; remove "
		               "some with `dewar approve forget`",
		               MEMORIES_MAX);
	return 0;
}

static int store_memory(struct dw_approvals *a, const struct dw_approval *yes,
                        const char *id, struct dw_error *err)
{
	enum dw_remember kind = yes->remember;
	sqlite3_stmt *stmt = dw_sqlite_prepare(
		&a->store,
		/* prose: allow who is a column */
		"INSERT INTO memory (caller, hash, session, rule, id, kind, who, "
		"decided_by, note, decided_us, expires_us) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
		err);

	DW_SQL_BIND(stmt, DW_SQL_CALLER(yes->who),
	            DW_SQL_TEXT(kind == DW_REMEMBER_CODE ? yes->hash : ""),
	            DW_SQL_TEXT(kind == DW_REMEMBER_SESSION ? yes->session : ""),
	            DW_SQL_TEXT(yes->rule), DW_SQL_TEXT(id), DW_SQL_NUMBER(kind),
	            DW_SQL_TEXT(yes->who), DW_SQL_TEXT(yes->decided_by),
	            DW_SQL_TEXT(yes->note), DW_SQL_NUMBER(yes->decided_us),
	            DW_SQL_NUMBER(kind == DW_REMEMBER_SESSION
	                                  ? yes->decided_us + DW_APPROVALS_SESSION_US
	                                  : 0));
	return dw_sqlite_change(&a->store, stmt, err) < 0 ? -1 : 0;
}

/* Approve all pending requests that this remembered approval covers. */
static int answer_others(struct dw_approvals *a, const struct dw_approval *yes,
                         const char *id, struct dw_error *err)
{
	sqlite3_stmt *stmt;
	char sql[256];

	(void)snprintf(sql, sizeof(sql),
	               "UPDATE question SET state = 1, memory = ?5, decided_by = ?6, "
	               "note = ?7, decided_us = ?8, expires_us = ?8 + use_us "
	               "WHERE state = 0 AND caller = ?1 AND %s",
	               covers[yes->remember]);
	stmt = dw_sqlite_prepare(&a->store, sql, err);
	DW_SQL_BIND(stmt, DW_SQL_CALLER(yes->who), DW_SQL_TEXT(yes->hash),
	            DW_SQL_TEXT(yes->session), DW_SQL_TEXT(yes->rule), DW_SQL_TEXT(id),
	            DW_SQL_TEXT(yes->decided_by), DW_SQL_TEXT(yes->note),
	            DW_SQL_NUMBER(yes->decided_us));
	return dw_sqlite_change(&a->store, stmt, err) < 0 ? -1 : 0;
}

int dw_approvals_remember(struct dw_approvals *a, const struct dw_approval *yes,
                          struct dw_error *err)
{
	char id[DW_ID_MAX];

	if (dw_id_make(id, err) < 0 || check_room(a, err) < 0 ||
	    store_memory(a, yes, id, err) < 0)
		return -1;
	return answer_others(a, yes, id, err);
}

/* ---- list and forget ---- */

static bool read_memory(sqlite3_stmt *stmt, struct dw_memory *ret)
{
	const char *text[7];
	int64_t kind = sqlite3_column_int64(stmt, 7);

	for (int i = 0; i < 7; i++) {
		text[i] = (const char *)sqlite3_column_text(stmt, i);
		if (!text[i])
			return false;
	}
	if (strlen(text[0]) >= sizeof(ret->id) || strlen(text[1]) >= sizeof(ret->hash) ||
	    kind <= DW_REMEMBER_NO || kind >= DW_REMEMBER_COUNT)
		return false;
	*ret = (struct dw_memory){.kind = (enum dw_remember)kind,
	                          .who = text[2],
	                          .session = text[3],
	                          .rule = text[4],
	                          .decided_by = text[5],
	                          .note = text[6],
	                          .decided_us = sqlite3_column_int64(stmt, 8),
	                          .expires_us = sqlite3_column_int64(stmt, 9)};
	memcpy(ret->id, text[0], strlen(text[0]));
	memcpy(ret->hash, text[1], strlen(text[1]));
	return true;
}

static int list(struct dw_approvals *a, dw_memory_fn *fn, void *user,
                struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_sqlite_prepare(
		&a->store,
		/* prose: allow who is a column */
		"SELECT id, hash, who, session, rule, decided_by, note, kind, decided_us, "
		"expires_us FROM memory WHERE expires_us = 0 OR expires_us > ? "
		"ORDER BY decided_us, id",
		err);
	struct dw_memory memory;
	int r;

	DW_SQL_BIND(stmt, DW_SQL_NUMBER(dw_wall_us()));
	while ((r = dw_sqlite_step(&a->store, stmt, err)) > 0) {
		if (!read_memory(stmt, &memory))
			return dw_fail(err, DW_E_INTERNAL, 0,
			               "remembered approval %.32s is damaged",
			               (const char *)sqlite3_column_text(stmt, 0));
		if (fn(user, &memory) != 0)
			return 0;
	}
	return r;
}

int dw_approvals_memories(struct dw_approvals *a, dw_memory_fn *fn, void *user,
                          struct dw_error *err)
{
	int r;

	if (dw_approvals_enter(a, err) < 0)
		return -1;
	r = list(a, fn, user, err);
	dw_approvals_leave(a);
	return r;
}

static int find(struct dw_approvals *a, const char *prefix, char ret[DW_ID_MAX],
                struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_sqlite_prepare(
		&a->store,
		"SELECT id FROM memory WHERE id >= ?1 AND id < ?1 || 'g' LIMIT 2", err);
	int r;

	DW_SQL_BIND(stmt, DW_SQL_TEXT(prefix));
	r = dw_sqlite_step(&a->store, stmt, err);
	if (r == 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0,
		               "unknown remembered approval %s; `dewar approve list "
		               "--remembered` lists them",
		               prefix);
	if (r > 0) {
		(void)snprintf(ret, DW_ID_MAX, "%s",
		               (const char *)sqlite3_column_text(stmt, 0));
		r = dw_sqlite_step(&a->store, stmt, err);
	}
	if (r > 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "several remembered approvals begin with %s; give more of "
		               "the id",
		               prefix);
	return r;
}

static int forget(struct dw_approvals *a, const char *prefix, struct dw_error *err)
{
	/* Also expire the approvals that it gave and that no run has used. */
	static const char *const statements[] = {
		"DELETE FROM memory WHERE id = ?",
		"UPDATE question SET state = 3 WHERE state = 1 AND memory = ?",
	};
	char id[DW_ID_MAX];

	if (find(a, prefix, id, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		sqlite3_stmt *stmt = dw_sqlite_prepare(&a->store, statements[i], err);

		DW_SQL_BIND(stmt, DW_SQL_TEXT(id));
		if (dw_sqlite_change(&a->store, stmt, err) < 0)
			return -1;
	}
	return 0;
}

int dw_approvals_forget(struct dw_approvals *a, const char *id, struct dw_error *err)
{
	if (dw_approvals_check_id(id, err) < 0 || dw_approvals_begin(a, err) < 0)
		return -1;
	return dw_approvals_end(a, forget(a, id, err), err);
}
