/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "approvals/approvals_own.h"
#include "base/cleanup.h"
#include "base/clock.h"

enum type {
	TEXT,  /* an array in the struct */
	OWNED, /* a pointer to the heap */
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

static int read_text(sqlite3_stmt *stmt, int i, const struct column *column, char *at)
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

static int read_number(sqlite3_stmt *stmt, int i, const struct column *column, char *at)
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

		r = columns[i].type <= OWNED ? read_text(stmt, (int)i, &columns[i], at)
		                             : read_number(stmt, (int)i, &columns[i], at);
	}
	if (r < 0) {
		(void)dw_fail(err, DW_E_INTERNAL, r == -EINVAL ? 0 : -r,
		              r == -EINVAL ? "approval %.32s in the file is damaged"
		                           : "cannot read approval %.32s",
		              row.id);
		dw_approval_finish(&row);
		return -1;
	}
	if (row.state <= DW_APPROVAL_APPROVED && row.expires_us <= dw_wall_us())
		row.state = DW_APPROVAL_EXPIRED;
	*ret = row;
	return 0;
}

static struct dw_sqlite_value value_of(const struct column *column, const char *at)
{
	switch (column->type) {
	case TEXT:
		return DW_SQL_TEXT(at);
	case OWNED:
		return DW_SQL_TEXT(*(char *const *)at);
	case STATE:
		return DW_SQL_NUMBER(*(const enum dw_approval_state *)at);
	case KIND:
		return DW_SQL_NUMBER(*(const enum dw_remember *)at);
	case FLAG:
		return DW_SQL_NUMBER(*(const bool *)at);
	default:
		return DW_SQL_NUMBER(*(const int64_t *)at);
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
	struct dw_sqlite_value values[ARRAY_SIZE(columns) + 2];
	size_t n = ARRAY_SIZE(columns);

	for (size_t i = 0; i < n; i++)
		values[i] = value_of(&columns[i], (const char *)row + columns[i].at);
	values[n] = DW_SQL_CALLER(row->who);
	values[n + 1] = DW_SQL_NUMBER(a->config.use_ms * 1000);
	dw_sqlite_bind(stmt, 1, values, ARRAY_SIZE(values));
	return dw_sqlite_change(&a->store, stmt, err) < 0 ? -1 : 0;
}

int dw_approvals_check_id(const char *id, struct dw_error *err)
{
	size_t len = strnlen(id, DW_ID_MAX);

	if (len == 0 || len >= DW_ID_MAX || strspn(id, "0123456789abcdef") != len)
		return dw_fail(err, DW_E_INVALID, 0,
		               "not a valid id: ids are hex digits, as `dewar approve list` "
		               "shows them");
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
	/* Ids are hex digits: those with this prefix sort before the prefix plus "g". */
	stmt = dw_sqlite_prepare(&a->store,
	                         "SELECT " DW_APPROVALS_COLUMNS " FROM question "
	                         "WHERE id >= ?1 AND id < ?1 || 'g' LIMIT 2",
	                         err);
	DW_SQL_BIND(stmt, DW_SQL_TEXT(id));
	r = dw_sqlite_step(&a->store, stmt, err);
	if (r == 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "unknown approval %s", id);
	if (r < 0 || dw_approvals_row(stmt, &row, err) < 0)
		return -1;
	r = dw_sqlite_step(&a->store, stmt, err);
	if (r == 0) {
		*ret = row;
		return 0;
	}
	dw_approval_finish(&row);
	if (r < 0)
		return -1;
	return dw_fail(err, DW_E_INVALID, 0,
	               "several approvals begin with %s; give more digits of the id", id);
}
