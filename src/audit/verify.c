/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "audit/reader.h"
#include "base/cleanup.h"

/*
 * Walking the chain, from the oldest record there is to the newest. Each must
 *
 *	have the number behind the one before,
 *	refer to the hash of the one before,
 *	and be what its own hash says.
 *
 * The oldest is number 1 and refers to nothing; or a checkpoint, further on in the
 * chain, has the number and hash of the one before it. The newest has the number
 * that SQLite gave out last, and a record that somebody wrote down elsewhere is
 * what it was.
 */

/* How far off its place a record is looked for, to tell that it was moved. */
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
	struct dw_audit_store *store;
	const struct dw_audit_anchor *anchor;
	struct dw_audit_verdict *verdict;
	int64_t checkpoint_seq; /* of the newest checkpoint; 0 if there is none */
	char checkpoint_hash[DW_AUDIT_HASH_MAX];
};

/* Say what is wrong; always false. */
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

/* The file cannot be read on; -1 if that says nothing about the file. */
static int stop(struct walk *walk, struct dw_error *err)
{
	int code = sqlite3_errcode(walk->store->db) & 0xff;
	int64_t seq = walk->verdict->head_seq + 1;

	if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB && code != SQLITE_IOERR)
		return dw_audit_store_fail(walk->store, err, "read the audit file");
	(void)find(walk, DW_AUDIT_DAMAGED, seq,
	           "the file is damaged, and record %lld cannot be read: %s",
	           (long long)seq, sqlite3_errmsg(walk->store->db));
	return 0;
}

/* Where it comes from, if it was moved; 0 if it was not. */
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
		return find(walk, DW_AUDIT_CHANGED, rec->seq,
		            "record %lld was changed: it holds what dewar does not write",
		            (long long)rec->seq);
	dw_audit_record_hash(rec, hash);
	if (dw_audit_text_is(rec->hash, hash))
		return true;
	origin = find_origin(rec);
	if (origin > 0)
		return find(walk, DW_AUDIT_OUT_OF_ORDER, rec->seq,
		            "record %lld is out of order: what stands there was record "
		            "%lld",
		            (long long)rec->seq, (long long)origin);
	return find(walk, DW_AUDIT_CHANGED, rec->seq,
	            "record %lld was changed: it is not what its hash says",
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
		            "record %lld is there, but a checkpoint says that all up to "
		            "%lld were removed",
		            (long long)rec->seq, (long long)first - 1);
	if (!dw_audit_text_is(rec->prev_hash, walk->checkpoint_hash))
		return find(walk, DW_AUDIT_UNLINKED, rec->seq,
		            "record %lld does not follow what was there before it",
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

	/* A gap is a gap, whatever stands behind it; else first what a record is. */
	if (verdict->records > 0 && rec->seq != verdict->head_seq + 1)
		return check_place(walk, rec);
	if (!check_hash(walk, rec, good) || !check_place(walk, rec))
		return false;
	if (anchor && anchor->seq == rec->seq &&
	    !dw_audit_text_is(rec->hash, anchor->hash))
		return find(walk, DW_AUDIT_CHANGED, rec->seq,
		            "record %lld is not the one whose hash was written down: the "
		            "chain was made anew",
		            (long long)rec->seq);

	if (verdict->records++ == 0)
		verdict->first_seq = rec->seq;
	verdict->head_seq = rec->seq;
	memcpy(verdict->head_hash, rec->hash.data, DW_AUDIT_HASH_MAX);
	return true;
}

/* One row of a statement without parameters: 1, 0 if there is none, or -1. */
static int ask(struct walk *walk, const char *sql, sqlite3_stmt **ret)
{
	struct dw_error why = {0};

	*ret = dw_audit_store_prepare(walk->store, sql, &why);
	if (!*ret)
		return -1;
	switch (sqlite3_step(*ret)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return -1;
	}
}

static int find_checkpoint(struct walk *walk)
{
	autostmt sqlite3_stmt *stmt = NULL;
	const char *hash;
	int r = ask(walk,
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

/* Behind the last record: what should be there and is not? */
static int check_end(struct walk *walk)
{
	struct dw_audit_verdict *verdict = walk->verdict;
	const struct dw_audit_anchor *anchor = walk->anchor;
	autostmt sqlite3_stmt *given = NULL, *open = NULL;
	int64_t last = 0;
	int r;

	r = ask(walk, "SELECT seq FROM sqlite_sequence WHERE name = 'record'", &given);
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
		           "record %lld, which was written down, was removed by retention",
		           (long long)anchor->seq);

	r = ask(walk,
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
	struct walk walk = {.store = &reader->store, .anchor = anchor, .verdict = ret};
	autostmt sqlite3_stmt *stmt = NULL;
	struct dw_audit_record rec;
	int r;

	*ret = (struct dw_audit_verdict){0};
	memcpy(ret->head_hash, dw_audit_genesis, sizeof(dw_audit_genesis));

	/* Others may write: see one state of the file throughout. */
	if (dw_audit_store_exec(walk.store, "BEGIN DEFERRED", err) < 0)
		return -1;
	r = find_checkpoint(&walk);
	if (r == 0)
		stmt = dw_audit_store_prepare(walk.store,
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
	(void)dw_audit_store_exec(walk.store, "COMMIT", NULL);
	return r;
}
