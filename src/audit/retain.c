/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "audit/audit_own.h"

/* About the size of a record without its request. */
#define ROW_BYTES "450"

#define ROUNDS 8

/*
 * Read a number by a statement with at most one parameter. If there is no row, or a NULL,
 * set *ret to the value of none.
 */
static int query_number(struct dw_audit_store *store, const char *sql, int64_t parameter,
                        int64_t none, int64_t *ret, struct dw_error *err)
{
	sqlite3_stmt *stmt = dw_sqlite_prepare(&store->sqlite, sql, err);

	DW_SQL_BIND(stmt, DW_SQL_NUMBER(parameter));
	return dw_sqlite_number(&store->sqlite, stmt, none, ret, err);
}

/* The size of the file without its free pages. */
static int used_bytes(struct dw_audit_store *store, int64_t *ret, struct dw_error *err)
{
	int64_t pages = 0, free_pages = 0, size = 0;

	if (query_number(store, "PRAGMA page_count", 0, 0, &pages, err) < 0 ||
	    query_number(store, "PRAGMA freelist_count", 0, 0, &free_pages, err) < 0 ||
	    query_number(store, "PRAGMA page_size", 0, 4096, &size, err) < 0)
		return -1;
	*ret = (pages - free_pages) * size;
	return 0;
}

/*
 * Find the last record to remove so that about this many bytes become free. How many
 * pages a record takes is unknown; its share in the size of all records is a good
 * estimate.
 */
static int seq_after_bytes(struct dw_audit_store *store, int64_t bytes, int64_t used,
                           int64_t *ret, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt =
		dw_sqlite_prepare(&store->sqlite,
	                          "SELECT seq, " ROW_BYTES
	                          " + coalesce(length(request), 0) FROM record ORDER BY seq",
	                          err);
	int64_t seq = 0, all = 0;
	double left;
	int r;

	if (query_number(store,
	                 "SELECT sum(" ROW_BYTES
	                 " + coalesce(length(request), 0)) FROM record",
	                 0, 0, &all, err) < 0)
		return -1;
	left = (double)all * (double)bytes / (double)used;
	while ((r = dw_sqlite_step(&store->sqlite, stmt, err)) > 0 && left > 0) {
		seq = sqlite3_column_int64(stmt, 0);
		left -= (double)sqlite3_column_int64(stmt, 1);
	}
	if (r < 0)
		return -1;
	*ret = seq;
	return 0;
}

static int find_last(struct dw_audit_store *store, const struct dw_audit_keep *keep,
                     int64_t *ret, struct dw_error *err)
{
	int64_t by_age = 0, by_size = 0, open = 0, used = 0, last;

	if (keep->since_us > 0 &&
	    query_number(store,
	                 "SELECT coalesce((SELECT min(seq) FROM record WHERE time_us >= ?),"
	                 " (SELECT max(seq) + 1 FROM record)) - 1",
	                 keep->since_us, 0, &by_age, err) < 0)
		return -1;
	if (keep->bytes > 0) {
		if (used_bytes(store, &used, err) < 0)
			return -1;
		if (used > 0 && (uint64_t)used > keep->bytes &&
		    seq_after_bytes(store, used - (int64_t)keep->bytes, used, &by_size,
		                    err) < 0)
			return -1;
	}
	last = by_age > by_size ? by_age : by_size;

	/* Keep the intent of every run that has not ended. */
	if (query_number(store, "SELECT min(seq) FROM open_run", 0, INT64_MAX, &open,
	                 err) < 0)
		return -1;
	*ret = last < open ? last : open - 1;
	return 0;
}

static int hash_of(struct dw_audit_store *store, int64_t seq, char ret[DW_AUDIT_HASH_MAX],
                   struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt =
		dw_sqlite_prepare(&store->sqlite, "SELECT hash FROM record WHERE seq = ?",
	                          err);
	const char *hash = NULL;
	int r;

	DW_SQL_BIND(stmt, DW_SQL_NUMBER(seq));
	r = dw_sqlite_step(&store->sqlite, stmt, err);
	if (r < 0)
		return -1;
	if (r > 0)
		hash = (const char *)sqlite3_column_text(stmt, 0);
	if (!hash || strlen(hash) != DW_AUDIT_HASH_MAX - 1)
		return dw_fail(
			err, DW_E_INTERNAL, 0,
			"audit record %lld has no valid hash; see `dewar audit verify`",
			(long long)seq);
	memcpy(ret, hash, DW_AUDIT_HASH_MAX);
	return 0;
}

/* Append one checkpoint, and remove the records up to the one that it names. */
static int remove_some(struct dw_audit_store *store, struct dw_audit_tail *tail,
                       const struct dw_audit_keep *keep, size_t *ret_removed,
                       struct dw_error *err)
{
	char hash[DW_AUDIT_HASH_MAX];
	struct dw_audit_record rec;
	int64_t last = 0, first = 0;

	*ret_removed = 0;
	if (find_last(store, keep, &last, err) < 0 ||
	    query_number(store, "SELECT min(seq) FROM record", 0, INT64_MAX, &first,
	                 err) < 0)
		return -1;
	/* Keep a single record: removing it would only replace it by a checkpoint. */
	if (last < first || (last == first && last == tail->seq))
		return 0;

	if (hash_of(store, last, hash, err) < 0)
		return -1;
	dw_audit_record_init(&rec);
	rec.kind = dw_audit_text_of("checkpoint");
	rec.through_seq = last;
	rec.through_hash = dw_audit_text_of(hash);
	if (dw_audit_chain_append(store, tail, &rec, err) < 0)
		return -1;
	if (query_number(store, "DELETE FROM record WHERE seq <= ?", last, 0, &first,
	                 err) < 0)
		return -1;
	*ret_removed = (size_t)sqlite3_changes(store->sqlite.db);
	return 0;
}

int dw_audit_chain_retain(struct dw_audit_store *store, struct dw_audit_tail *tail,
                          const struct dw_audit_keep *keep, size_t *ret_removed,
                          struct dw_error *err)
{
	size_t removed = 0, all = 0;

	/* SQLite counts a half-empty page as used, so one round may not be enough. */
	for (int i = 0; i < ROUNDS; i++) {
		if (remove_some(store, tail, keep, &removed, err) < 0)
			return -1;
		all += removed;
		if (removed == 0)
			break;
	}
	*ret_removed = all;
	return 0;
}
