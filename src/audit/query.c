/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit_own.h"
#include "base/cleanup.h"

const char *const dw_audit_status_words[] = {
	"success",        "error", "timeout", "resource_exceeded", DW_AUDIT_INTERRUPTED,
	DW_AUDIT_RUNNING, NULL,
};

/* The parameters of the filter: ?1 since, ?2 until, ?3 id, ?4 status, ?5 limit. */
#define IN_TIME " (?1 = 0 OR time_us >= ?1) AND (?2 = 0 OR time_us < ?2) "
/* Ids are hex digits: those with this prefix sort before the prefix plus "g". */
#define BY_ID " (?3 IS NULL OR (run >= ?3 AND run < ?3 || 'g')) "

static const char records_sql[] =
	"SELECT * FROM (SELECT " DW_AUDIT_COLUMNS " FROM record WHERE" IN_TIME "AND" BY_ID
	"AND (?4 IS NULL OR status = ?4) ORDER BY seq DESC LIMIT ?5) ORDER BY seq";

static const char runs_sql[] =
	"WITH i AS (SELECT " DW_AUDIT_COLUMNS
	" FROM record WHERE kind = 'intent' AND" IN_TIME "AND" BY_ID
	") SELECT i.*, e.*, o.owner FROM i "
	"LEFT JOIN (SELECT " DW_AUDIT_COLUMNS " FROM record) e "
	"ON e.run = i.run AND e.kind IN ('outcome', 'interrupted') "
	"LEFT JOIN open_run o ON o.run = i.run ORDER BY i.seq DESC";

int dw_audit_reader_open(const char *path, struct dw_audit_reader **ret,
                         struct dw_error *err)
{
	struct dw_audit_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot open the audit file");
	reader->locks_fd = -1;
	if (dw_audit_store_open_reader(&reader->store, path, err) < 0) {
		free(reader);
		return -1;
	}
	reader->locks_fd = dw_audit_locks_look(path);
	*ret = reader;
	return 0;
}

void dw_audit_reader_close(struct dw_audit_reader *reader)
{
	if (!reader)
		return;
	dw_audit_store_close(&reader->store);
	dw_cleanup_close(&reader->locks_fd);
	free(reader);
}

static sqlite3_stmt *prepare(struct dw_audit_reader *reader, const char *sql,
                             const struct dw_audit_filter *filter, struct dw_error *err)
{
	sqlite3_stmt *stmt = dw_sqlite_prepare(&reader->store.sqlite, sql, err);
	bool limited = filter->limit > 0 && filter->limit < INT64_MAX;

	/* runs_sql has no ?4 and ?5: SQLite refuses to bind them, which has no effect. */
	DW_SQL_BIND(stmt, DW_SQL_NUMBER(filter->since_us),
	            DW_SQL_NUMBER(filter->until_us), DW_SQL_TEXT(filter->id),
	            DW_SQL_TEXT(filter->status),
	            DW_SQL_NUMBER(limited ? (int64_t)filter->limit : -1));
	return stmt;
}

int dw_audit_each_record(struct dw_audit_reader *reader,
                         const struct dw_audit_filter *filter, dw_audit_record_fn *fn,
                         void *user, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = prepare(reader, records_sql, filter, err);
	struct dw_audit_record rec;
	int r, stop;

	while ((r = dw_sqlite_step(&reader->store.sqlite, stmt, err)) > 0) {
		(void)dw_audit_store_row(stmt, 0, &rec);
		stop = fn(user, &rec);
		if (stop)
			return stop;
	}
	return r;
}

/* A run without an end is still running if its process still holds its lock. */
static const char *status_of_open(const struct dw_audit_reader *reader,
                                  sqlite3_stmt *stmt, int column)
{
	if (sqlite3_column_type(stmt, column) == SQLITE_INTEGER &&
	    reader->locks_fd >= 0 &&
	    dw_audit_locks_held(reader->locks_fd, sqlite3_column_int64(stmt, column)))
		return DW_AUDIT_RUNNING;
	return DW_AUDIT_INTERRUPTED;
}

int dw_audit_each_run(struct dw_audit_reader *reader,
                      const struct dw_audit_filter *filter, dw_audit_entry_fn *fn,
                      void *user, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = prepare(reader, runs_sql, filter, err);
	struct dw_audit_record intent, end;
	struct dw_audit_entry entry;
	uint64_t n = 0;
	int r, stop;

	while ((r = dw_sqlite_step(&reader->store.sqlite, stmt, err)) > 0) {
		(void)dw_audit_store_row(stmt, 0, &intent);
		(void)dw_audit_store_row(stmt, DW_AUDIT_FIELDS, &end);
		entry = (struct dw_audit_entry){.intent = &intent,
		                                .end = end.kind.data ? &end : NULL};
		if (!entry.end)
			entry.status = status_of_open(reader, stmt, 2 * DW_AUDIT_FIELDS);
		else
			entry.status = end.status.data ? end.status.data
			                               : DW_AUDIT_INTERRUPTED;
		if (filter->status && strcmp(filter->status, entry.status) != 0)
			continue;
		stop = fn(user, &entry);
		if (stop)
			return stop;
		if (filter->limit > 0 && ++n == filter->limit)
			return 0;
	}
	return r;
}
