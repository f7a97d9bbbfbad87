/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "audit/chain.h"

/* About what a record takes up besides its request. */
#define ROW_BYTES "450"

#define ROUNDS 8

/* One number from a statement with at most one parameter; none if it is NULL. */
static int ask(struct dw_audit_store *store, const char *sql, int64_t parameter,
               int64_t none, int64_t *ret, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_audit_store_prepare(store, sql, err);

	if (!stmt)
		return -1;
	if (sqlite3_bind_parameter_count(stmt) > 0)
		(void)sqlite3_bind_int64(stmt, 1, parameter);
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		*ret = sqlite3_column_type(stmt, 0) == SQLITE_NULL
		               ? none
		               : sqlite3_column_int64(stmt, 0);
		return 0;
	case SQLITE_DONE:
		*ret = none;
		return 0;
	default:
		return dw_audit_store_fail(store, err, "read the audit file");
	}
}

/* What the file holds now, without pages that are free. */
static int used_bytes(struct dw_audit_store *store, int64_t *ret, struct dw_error *err)
{
	int64_t pages = 0, free_pages = 0, size = 0;

	if (ask(store, "PRAGMA page_count", 0, 0, &pages, err) < 0 ||
	    ask(store, "PRAGMA freelist_count", 0, 0, &free_pages, err) < 0 ||
	    ask(store, "PRAGMA page_size", 0, 4096, &size, err) < 0)
		return -1;
	*ret = (pages - free_pages) * size;
	return 0;
}

/*
 * The record up to which to remove, so that about this much of the file is free
 * then. What a record takes up in pages nobody knows; its share of all is known
 * well enough.
 */
static int seq_after_bytes(struct dw_audit_store *store, int64_t bytes, int64_t used,
                           int64_t *ret, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_audit_store_prepare(
		store,
		"SELECT seq, " ROW_BYTES
		" + coalesce(length(request), 0) FROM record ORDER BY seq",
		err);
	int64_t seq = 0, all = 0;
	double left;
	int r;

	if (!stmt ||
	    ask(store,
	        "SELECT sum(" ROW_BYTES " + coalesce(length(request), 0)) FROM record", 0,
	        0, &all, err) < 0)
		return -1;
	left = (double)all * (double)bytes / (double)used;
	while ((r = sqlite3_step(stmt)) == SQLITE_ROW && left > 0) {
		seq = sqlite3_column_int64(stmt, 0);
		left -= (double)sqlite3_column_int64(stmt, 1);
	}
	if (r != SQLITE_ROW && r != SQLITE_DONE)
		return dw_audit_store_fail(store, err, "read the audit file");
	*ret = seq;
	return 0;
}

static int find_last(struct dw_audit_store *store, const struct dw_audit_keep *keep,
                     int64_t *ret, struct dw_error *err)
{
	int64_t by_age = 0, by_size = 0, open = 0, used = 0, last;

	if (keep->since_us > 0 &&
	    ask(store,
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

	/* The end of a run that goes on must find its beginning. */
	if (ask(store, "SELECT min(seq) FROM open_run", 0, INT64_MAX, &open, err) < 0)
		return -1;
	*ret = last < open ? last : open - 1;
	return 0;
}

static int hash_of(struct dw_audit_store *store, int64_t seq, char ret[DW_AUDIT_HASH_MAX],
                   struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt =
		dw_audit_store_prepare(store, "SELECT hash FROM record WHERE seq = ?",
	                               err);
	const char *hash = NULL;

	if (!stmt)
		return -1;
	(void)sqlite3_bind_int64(stmt, 1, seq);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		hash = (const char *)sqlite3_column_text(stmt, 0);
	if (!hash || strlen(hash) != DW_AUDIT_HASH_MAX - 1)
		return dw_fail(err, DW_E_INTERNAL, 0,
		               "record %lld is not what it should be: see `dewar audit "
		               "verify`",
		               (long long)seq);
	memcpy(ret, hash, DW_AUDIT_HASH_MAX);
	return 0;
}

/* One checkpoint, and what goes with it. */
static int remove_some(struct dw_audit_store *store, struct dw_audit_tail *tail,
                       const struct dw_audit_keep *keep, size_t *ret_removed,
                       struct dw_error *err)
{
	char hash[DW_AUDIT_HASH_MAX];
	struct dw_audit_record rec;
	int64_t last = 0, first = 0;

	*ret_removed = 0;
	if (find_last(store, keep, &last, err) < 0 ||
	    ask(store, "SELECT min(seq) FROM record", 0, INT64_MAX, &first, err) < 0)
		return -1;
	/* A checkpoint alone is not worth another one. */
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
	if (ask(store, "DELETE FROM record WHERE seq <= ?", last, 0, &first, err) < 0)
		return -1;
	*ret_removed = (size_t)sqlite3_changes(store->db);
	return 0;
}

int dw_audit_chain_retain(struct dw_audit_store *store, struct dw_audit_tail *tail,
                          const struct dw_audit_keep *keep, size_t *ret_removed,
                          struct dw_error *err)
{
	size_t removed = 0, all = 0;

	/* Pages that are half empty count in full, so once may not be enough. */
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
