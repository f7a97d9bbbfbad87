/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "approvals/own.h"
#include "base/cleanup.h"

enum type {
	TEXT,  /* in the struct */
	OWNED, /* behind a pointer of it */
	STATE,
	FLAG,
	KIND,
	TIME
};

/* The columns, in the order of DW_APPROVALS_COLUMNS. */
static const struct column {
	enum type type;
	size_t at; /* in struct dw_approval */
	size_t size;
	int64_t max;
} columns[] = {
#define COLUMN(type, member, max)                                      \
	{                                                              \
		type, offsetof(struct dw_approval, member),            \
			sizeof(((struct dw_approval *)0)->member), max \
	}
	COLUMN(TEXT, id, 0),
	COLUMN(TEXT, run, 0),
	COLUMN(TEXT, hash, 0),
	COLUMN(TEXT, memory, 0),
	COLUMN(TEXT, used_by, 0),
	COLUMN(OWNED, who, 0),
	COLUMN(OWNED, door, 0),
	COLUMN(OWNED, session, 0),
	COLUMN(OWNED, rule, 0),
	COLUMN(OWNED, reason, 0),
	COLUMN(OWNED, findings, 0),
	COLUMN(OWNED, request, 0),
	COLUMN(OWNED, decided_by, 0),
	COLUMN(OWNED, note, 0),
	COLUMN(STATE, state, DW_APPROVAL_STATE_COUNT - 1),
	COLUMN(FLAG, allow_self, 1),
	COLUMN(KIND, remember, DW_REMEMBER_COUNT - 1),
	COLUMN(TIME, asked_us, INT64_MAX),
	COLUMN(TIME, expires_us, INT64_MAX),
	COLUMN(TIME, decided_us, INT64_MAX),
	COLUMN(TIME, used_us, INT64_MAX),
};

static int take_text(sqlite3_stmt *stmt, int i, const struct column *column, char *at)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);
	size_t len = (size_t)sqlite3_column_bytes(stmt, i);
	char *copy;

	if (!text || strlen(text) != len)
		return -EINVAL;
	if (column->type == OWNED) {
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
		*(char **)at = copy;
		return 0;
	}
	if (len >= column->size)
		return -EINVAL;
	memcpy(at, text, len + 1);
	return 0;
}

static int take_number(sqlite3_stmt *stmt, int i, const struct column *column, char *at)
{
	int64_t value = sqlite3_column_int64(stmt, i);

	if (value < 0 || value > column->max)
		return -EINVAL;
	switch (column->type) {
	case STATE:
		*(enum dw_approval_state *)at = (enum dw_approval_state)value;
		break;
	case KIND:
		*(enum dw_remember *)at = (enum dw_remember)value;
		break;
	case FLAG:
		*(bool *)at = value != 0;
		break;
	default:
		*(int64_t *)at = value;
	}
	return 0;
}

int dw_approvals_row(sqlite3_stmt *stmt, struct dw_approval *ret, struct dw_error *err)
{
	struct dw_approval row = {0};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(columns) && r == 0; i++) {
		char *at = (char *)&row + columns[i].at;

		r = columns[i].type <= OWNED ? take_text(stmt, (int)i, &columns[i], at)
		                             : take_number(stmt, (int)i, &columns[i], at);
	}
	if (r < 0) {
		(void)dw_fail(err, DW_E_INTERNAL, r == -EINVAL ? 0 : -r,
		              r == -EINVAL ? "the question %.32s in the file is damaged"
		                           : "read the question %.32s",
		              row.id);
		dw_approval_finish(&row);
		return -1;
	}
	if (row.state <= DW_APPROVAL_APPROVED && row.expires_us <= dw_approvals_now_us())
		row.state = DW_APPROVAL_EXPIRED;
	*ret = row;
	return 0;
}

static void bind(sqlite3_stmt *stmt, int i, const struct column *column, const char *at)
{
	switch (column->type) {
	case TEXT:
		(void)sqlite3_bind_text(stmt, i, at, -1, SQLITE_STATIC);
		break;
	case OWNED:
		(void)sqlite3_bind_text(stmt, i, *(char *const *)at, -1, SQLITE_STATIC);
		break;
	case STATE:
		(void)sqlite3_bind_int(stmt, i, (int)*(const enum dw_approval_state *)at);
		break;
	case KIND:
		(void)sqlite3_bind_int(stmt, i, (int)*(const enum dw_remember *)at);
		break;
	case FLAG:
		(void)sqlite3_bind_int(stmt, i, *(const bool *)at);
		break;
	case TIME:
		(void)sqlite3_bind_int64(stmt, i, *(const int64_t *)at);
		break;
	}
}

int dw_approvals_insert(struct dw_approvals *a, const struct dw_approval *row,
                        struct dw_error *err)
{
	sqlite3_stmt *stmt =
		dw_sqlite_prepare(&a->store,
	                          "INSERT INTO question (" DW_APPROVALS_COLUMNS
	                          ", caller, use_us) VALUES "
	                          "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	                          err);
	int n = (int)ARRAY_SIZE(columns);

	if (!stmt)
		return -1;
	for (int i = 0; i < n; i++)
		bind(stmt, i + 1, &columns[i], (const char *)row + columns[i].at);
	(void)sqlite3_bind_text(stmt, n + 1, row->who,
	                        (int)dw_approvals_identity(row->who), SQLITE_STATIC);
	(void)sqlite3_bind_int64(stmt, n + 2, (int64_t)a->config.use_ms * 1000);
	return dw_approvals_run(a, stmt, err) < 0 ? -1 : 0;
}

int dw_approvals_check_id(const char *id, struct dw_error *err)
{
	size_t len = strnlen(id, DW_ID_MAX);

	if (len == 0 || len >= DW_ID_MAX || strspn(id, "0123456789abcdef") != len)
		return dw_fail(err, DW_E_INVALID, 0,
		               "that is no id: those are hex digits, as `dewar approve "
		               "list` shows them");
	return 0;
}

int dw_approvals_find(struct dw_approvals *a, const char *id, struct dw_approval *ret,
                      struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = NULL;
	struct dw_approval row = {0};
	int r;

	if (dw_approvals_check_id(id, err) < 0)
		return -1;
	/* No digit is as large as a g. */
	stmt = dw_sqlite_prepare(&a->store,
	                         "SELECT " DW_APPROVALS_COLUMNS " FROM question "
	                         "WHERE id >= ?1 AND id < ?1 || 'g' LIMIT 2",
	                         err);
	if (!stmt)
		return -1;
	(void)sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC);
	r = sqlite3_step(stmt);
	if (r == SQLITE_DONE)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "there is no question %s", id);
	if (r != SQLITE_ROW)
		return dw_sqlite_fail(&a->store, err, "read the question");
	if (dw_approvals_row(stmt, &row, err) < 0)
		return -1;
	r = sqlite3_step(stmt);
	if (r != SQLITE_DONE) {
		dw_approval_finish(&row);
		if (r != SQLITE_ROW)
			return dw_sqlite_fail(&a->store, err, "read the question");
		return dw_fail(err, DW_E_INVALID, 0,
		               "several questions begin with %s: give more of the id",
		               id);
	}
	*ret = row;
	return 0;
}
