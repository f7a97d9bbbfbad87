/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit_own.h"
#include "base/cleanup.h"

/*
 * Walk the chain from the oldest record to the newest. Each record must
 *
 *	have the number after that of the previous one,
 *	refer to the hash of the previous one,
 *	and match its own hash.
 *
 * The oldest is number 1 with the genesis hash; or a later checkpoint has the number and
 * hash of the record before it. The newest has the last number that SQLite assigned. A
 * record whose hash was noted elsewhere (the anchor) must be unchanged.
 */

/* How far from its present number the former number of a moved record is searched for. */
#define MOVED_MAX 4096

static const char *const fault_names[] = {
	[DW_AUDIT_SOUND] = "sound",       [DW_AUDIT_CHANGED] = "changed",
	[DW_AUDIT_MISSING] = "missing",   [DW_AUDIT_OUT_OF_ORDER] = "out_of_order",
	[DW_AUDIT_UNLINKED] = "unlinked", [DW_AUDIT_DAMAGED] = "damaged",
};
_Static_assert(ARRAY_SIZE(fault_names) == DW_AUDIT_FAULT_COUNT, "a name for each fault");

const char *dw_audit_fault_name(enum dw_audit_fault fault)
{
	return (unsigned)fault < DW_AUDIT_FAULT_COUNT ? fault_names[fault] : "damaged";
}

struct walk {
	struct dw_sqlite *sqlite;
	const struct dw_audit_anchor *anchor;
	struct dw_audit_verdict *verdict;
	int64_t checkpoint_seq; /* the last removed record; 0 without a checkpoint */
	char checkpoint_hash[DW_AUDIT_HASH_MAX];
};

/* Report a fault. Always returns false. */
__attribute__((format(printf, 4, 5))) static bool find(struct walk *walk,
                                                       enum dw_audit_fault fault,
                                                       int64_t seq, const char *fmt, ...)
{
	va_list ap;

	walk->verdict->fault = fault;
	walk->verdict->seq = seq;
	va_start(ap, fmt);
	(void)vsnprintf(walk->verdict->text, sizeof(walk->verdict->text), fmt, ap);
	va_end(ap);
	return false;
}

/* Reading failed: report a fault if the file is damaged, otherwise an error. */
static int stop(struct walk *walk, struct dw_error *err)
{
	int64_t seq = walk->verdict->head_seq + 1;

	if (!dw_sqlite_damaged(walk->sqlite))
		return dw_sqlite_fail(walk->sqlite, err, "cannot read the audit file");
	(void)find(walk, DW_AUDIT_DAMAGED, seq,
	           "the file is damaged, and record %lld cannot be read: %s",
	           (long long)seq, sqlite3_errmsg(walk->sqlite->db));
	return 0;
}

/* The number that a moved record had before; 0 if its hash matches no number nearby. */
static int64_t find_origin(const struct dw_audit_record *rec)
{
	struct dw_audit_record moved = *rec;
	char hash[DW_AUDIT_HASH_MAX];

	for (int64_t by = 1; by <= MOVED_MAX; by++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			moved.seq = rec->seq + sign * by;
			if (moved.seq < 1)
				continue;
			dw_audit_record_hash(&moved, hash);
			if (dw_audit_text_is(rec->hash, hash))
				return moved.seq;
		}
	}
	return 0;
}

static bool check_hash(struct walk *walk, const struct dw_audit_record *rec, bool good)
{
	char hash[DW_AUDIT_HASH_MAX];
	int64_t origin;

	if (!good)
		return find(
			walk, DW_AUDIT_CHANGED, rec->seq,
			"record %lld was changed: it holds a value that dewar never writes",
			(long long)rec->seq);
	dw_audit_record_hash(rec, hash);
	if (dw_audit_text_is(rec->hash, hash))
		return true;
	origin = find_origin(rec);
	if (origin > 0)
		return find(walk, DW_AUDIT_OUT_OF_ORDER, rec->seq,
		            "record %lld is out of order: it was record %lld before",
		            (long long)rec->seq, (long long)origin);
	return find(walk, DW_AUDIT_CHANGED, rec->seq,
	            "record %lld was changed: it does not match its hash",
	            (long long)rec->seq);
}

static bool check_first(struct walk *walk, const struct dw_audit_record *rec)
{
	int64_t first = walk->checkpoint_seq + 1;

	if (rec->seq > first)
		return find(walk, DW_AUDIT_MISSING, first,
		            "records %lld to %lld are missing at the beginning",
		            (long long)first, (long long)rec->seq - 1);
	if (rec->seq < first)
		return find(walk, DW_AUDIT_UNLINKED, rec->seq,
		            "record %lld exists, but a checkpoint says that all up to %lld "
		            "were removed",
		            (long long)rec->seq, (long long)first - 1);
	if (!dw_audit_text_is(rec->prev_hash, walk->checkpoint_hash))
		return find(walk, DW_AUDIT_UNLINKED, rec->seq,
		            "record %lld does not refer to the record before it",
		            (long long)rec->seq);
	return true;
}

static bool check_place(struct walk *walk, const struct dw_audit_record *rec)
{
	const struct dw_audit_verdict *verdict = walk->verdict;

	if (verdict->records == 0)
		return check_first(walk, rec);
	if (rec->seq > verdict->head_seq + 2)
		return find(walk, DW_AUDIT_MISSING, verdict->head_seq + 1,
		            "records %lld to %lld are missing",
		            (long long)verdict->head_seq + 1, (long long)rec->seq - 1);
	if (rec->seq > verdict->head_seq + 1)
		return find(walk, DW_AUDIT_MISSING, verdict->head_seq + 1,
		            "record %lld is missing", (long long)verdict->head_seq + 1);
	if (!dw_audit_text_is(rec->prev_hash, verdict->head_hash))
		return find(walk, DW_AUDIT_UNLINKED, rec->seq,
		            "record %lld does not follow record %lld: one of them was "
		            "replaced",
		            (long long)rec->seq, (long long)verdict->head_seq);
	return true;
}

static bool check_record(struct walk *walk, const struct dw_audit_record *rec, bool good)
{
	struct dw_audit_verdict *verdict = walk->verdict;
	const struct dw_audit_anchor *anchor = walk->anchor;

	/* Report a gap first; otherwise check the record's hash before its place. */
	if (verdict->records > 0 && rec->seq != verdict->head_seq + 1)
		return check_place(walk, rec);
	if (!check_hash(walk, rec, good) || !check_place(walk, rec))
		return false;
	if (anchor && anchor->seq == rec->seq &&
	    !dw_audit_text_is(rec->hash, anchor->hash))
		return find(walk, DW_AUDIT_CHANGED, rec->seq,
		            "record %lld does not have the hash that was noted: the chain "
		            "was rewritten",
		            (long long)rec->seq);

	if (verdict->records++ == 0)
		verdict->first_seq = rec->seq;
	verdict->head_seq = rec->seq;
	memcpy(verdict->head_hash, rec->hash.data, DW_AUDIT_HASH_MAX);
	return true;
}

/* Step a statement without parameters: 1 with a row, 0 without, -1 on failure. */
static int query(struct walk *walk, const char *sql, sqlite3_stmt **ret)
{
	*ret = dw_sqlite_prepare(walk->sqlite, sql, NULL);
	return dw_sqlite_step(walk->sqlite, *ret, NULL);
}

static int find_checkpoint(struct walk *walk)
{
	autostmt sqlite3_stmt *stmt = NULL;
	const char *hash;
	int r = query(walk,
	              "SELECT through_seq, through_hash FROM record "
	              "WHERE through_seq IS NOT NULL ORDER BY through_seq DESC LIMIT 1",
	              &stmt);

	memcpy(walk->checkpoint_hash, dw_audit_genesis, sizeof(dw_audit_genesis));
	if (r <= 0)
		return r;
	walk->checkpoint_seq = sqlite3_column_int64(stmt, 0);
	hash = (const char *)sqlite3_column_text(stmt, 1);
	(void)snprintf(walk->checkpoint_hash, sizeof(walk->checkpoint_hash), "%s",
	               hash ? hash : "");
	return 0;
}

/* Check that no record is missing after the last one, and count the open runs. */
static int check_end(struct walk *walk)
{
	struct dw_audit_verdict *verdict = walk->verdict;
	const struct dw_audit_anchor *anchor = walk->anchor;
	autostmt sqlite3_stmt *given = NULL, *open = NULL;
	int64_t last = 0;
	int r;

	r = query(walk, "SELECT seq FROM sqlite_sequence WHERE name = 'record'", &given);
	if (r < 0)
		return -1;
	if (r > 0)
		last = sqlite3_column_int64(given, 0);
	if (anchor && anchor->seq > last)
		last = anchor->seq;
	if (last > verdict->head_seq) {
		(void)find(walk, DW_AUDIT_MISSING, verdict->head_seq + 1,
		           "records %lld to %lld are missing at the end",
		           (long long)verdict->head_seq + 1, (long long)last);
		return 0;
	}
	if (anchor && anchor->seq < verdict->first_seq)
		(void)find(walk, DW_AUDIT_MISSING, anchor->seq,
		           "record %lld, whose hash was noted, was removed by retention",
		           (long long)anchor->seq);

	r = query(walk,
	          "SELECT count(*) FROM record i WHERE kind = 'intent' AND NOT EXISTS "
	          "(SELECT 1 FROM record e WHERE e.run = i.run AND "
	          "e.kind IN ('outcome', 'interrupted'))",
	          &open);
	if (r < 0)
		return -1;
	if (r > 0)
		verdict->open = (uint64_t)sqlite3_column_int64(open, 0);
	return 0;
}

int dw_audit_verify(struct dw_audit_reader *reader, const struct dw_audit_anchor *anchor,
                    struct dw_audit_verdict *ret, struct dw_error *err)
{
	struct walk walk = {.sqlite = &reader->store.sqlite,
	                    .anchor = anchor,
	                    .verdict = ret};
	autostmt sqlite3_stmt *stmt = NULL;
	struct dw_audit_record rec;
	int r;

	*ret = (struct dw_audit_verdict){0};
	memcpy(ret->head_hash, dw_audit_genesis, sizeof(dw_audit_genesis));

	/* Other processes may write: this transaction reads one state of the file. */
	if (dw_sqlite_exec(walk.sqlite, "BEGIN DEFERRED", err) < 0)
		return -1;
	r = find_checkpoint(&walk);
	if (r == 0)
		stmt = dw_sqlite_prepare(walk.sqlite,
		                         "SELECT " DW_AUDIT_COLUMNS
		                         " FROM record ORDER BY seq",
		                         err);
	while (stmt && (r = sqlite3_step(stmt)) == SQLITE_ROW) {
		bool good = dw_audit_store_row(stmt, 0, &rec);

		if (!check_record(&walk, &rec, good))
			break;
	}
	if (!stmt || (r != SQLITE_ROW && r != SQLITE_DONE) ||
	    (r == SQLITE_DONE && check_end(&walk) < 0))
		r = stop(&walk, err);
	else
		r = 0;
	(void)sqlite3_finalize(TAKE_PTR(stmt));
	(void)dw_sqlite_exec(walk.sqlite, "COMMIT", NULL);
	return r;
}
