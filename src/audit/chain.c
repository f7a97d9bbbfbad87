/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit_own.h"
#include "base/cleanup.h"
#include "base/clock.h"

int dw_audit_chain_append(struct dw_audit_store *store, struct dw_audit_tail *tail,
                          struct dw_audit_record *rec, struct dw_error *err)
{
	char hash[DW_AUDIT_HASH_MAX];
	int r;

	rec->seq = tail->seq + 1;
	rec->time_us = dw_wall_us();
	rec->prev_hash = dw_audit_text_of(tail->hash);
	dw_audit_record_hash(rec, hash);
	rec->hash = dw_audit_text_of(hash);
	r = dw_audit_store_insert(store, rec, err);
	/* Both point to buffers that do not keep these values. */
	rec->prev_hash = rec->hash = (struct dw_audit_text){0};
	if (r < 0)
		return -1;
	tail->seq = rec->seq;
	memcpy(tail->hash, hash, sizeof(hash));
	return 0;
}

int dw_audit_chain_open(struct dw_audit_store *store,
                        const struct dw_audit_record *intent, int64_t owner,
                        struct dw_error *err)
{
	autoreset sqlite3_stmt *stmt = dw_audit_store_stmt(store, DW_AUDIT_SQL_OPEN_ADD,
	                                                   err);

	DW_SQL_BIND(stmt, DW_SQL_CUT(intent->run.data, intent->run.len),
	            DW_SQL_NUMBER(intent->seq), DW_SQL_NUMBER(owner));
	return dw_sqlite_step(&store->sqlite, stmt, err);
}

int dw_audit_chain_close(struct dw_audit_store *store, struct dw_audit_text run,
                         struct dw_error *err)
{
	autoreset sqlite3_stmt *stmt = dw_audit_store_stmt(store,
	                                                   DW_AUDIT_SQL_OPEN_REMOVE, err);

	DW_SQL_BIND(stmt, DW_SQL_CUT(run.data, run.len));
	if (dw_sqlite_step(&store->sqlite, stmt, err) < 0)
		return -1;
	if (sqlite3_changes(store->sqlite.db) != 1)
		return dw_fail(err, DW_E_NOT_FOUND, 0,
		               "no run %.*s is open in the audit file", (int)run.len,
		               run.data);
	return 0;
}

/* An open run whose process has ended. */
struct orphan {
	char run[DW_ID_MAX];
	int64_t seq;
};

/* The caller frees the list. */
static int list_orphans(struct dw_audit_store *store, int locks_fd, int64_t us,
                        struct orphan **ret, size_t *ret_n, struct dw_error *err)
{
	autoreset sqlite3_stmt *stmt = dw_audit_store_stmt(store, DW_AUDIT_SQL_OPEN_LIST,
	                                                   err);
	autofree struct orphan *list = NULL;
	struct orphan *more;
	size_t n = 0, room = 0;
	const char *run;
	int r;

	DW_SQL_BIND(stmt, DW_SQL_NUMBER(us));
	while ((r = dw_sqlite_step(&store->sqlite, stmt, err)) > 0) {
		run = (const char *)sqlite3_column_text(stmt, 0);
		if (!run || strlen(run) >= DW_ID_MAX ||
		    dw_audit_locks_held(locks_fd, sqlite3_column_int64(stmt, 1)))
			continue;
		if (n == room) {
			room = room ? 2 * room : 16;
			more = reallocarray(list, room, sizeof(*list));
			if (!more)
				return dw_fail(err, DW_E_INTERNAL, ENOMEM,
				               "cannot list interrupted runs");
			list = more;
		}
		list[n] = (struct orphan){.seq = sqlite3_column_int64(stmt, 2)};
		memcpy(list[n++].run, run, strlen(run));
	}
	if (r < 0)
		return -1;
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return 0;
}

static int interrupt(struct dw_audit_store *store, struct dw_audit_tail *tail,
                     const struct orphan *orphan, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt =
		dw_sqlite_prepare(&store->sqlite, /* prose: allow who is a column */
	                          "SELECT who, level_asked FROM record WHERE seq = ?",
	                          err);
	struct dw_audit_record rec;
	int r;

	DW_SQL_BIND(stmt, DW_SQL_NUMBER(orphan->seq));
	r = dw_sqlite_step(&store->sqlite, stmt, err);
	if (r < 0)
		return -1;
	dw_audit_record_init(&rec);
	rec.kind = dw_audit_text_of("interrupted");
	rec.run = dw_audit_text_of(orphan->run);
	rec.hint = dw_audit_text_of("its process ended before the run did");
	if (r > 0) {
		rec.who = dw_audit_text_of((const char *)sqlite3_column_text(stmt, 0));
		rec.level_asked = dw_audit_text_of(
			(const char *)sqlite3_column_text(stmt, 1));
	}
	if (dw_audit_chain_append(store, tail, &rec, err) < 0)
		return -1;
	return dw_audit_chain_close(store, rec.run, err);
}

int dw_audit_chain_recover(struct dw_audit_store *store, struct dw_audit_tail *tail,
                           int locks_fd, int64_t us, size_t *ret_n, struct dw_error *err)
{
	autofree struct orphan *list = NULL;
	size_t n = 0;

	if (list_orphans(store, locks_fd, us, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (interrupt(store, tail, &list[i], err) < 0)
			return -1;
	if (ret_n)
		*ret_n = n;
	return 0;
}
