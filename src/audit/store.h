/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_STORE_H
#define DW_AUDIT_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/record.h"
#include "dewar/error.h"

/*
 * The SQLite file: its tables, and one connection to it. Used by one thread at a
 * time.
 */

enum dw_audit_sql {
	DW_AUDIT_SQL_BEGIN = 0,
	DW_AUDIT_SQL_COMMIT,
	DW_AUDIT_SQL_ROLLBACK,
	DW_AUDIT_SQL_HEAD,
	DW_AUDIT_SQL_INSERT,
	DW_AUDIT_SQL_OPEN_ADD,
	DW_AUDIT_SQL_OPEN_REMOVE,
	DW_AUDIT_SQL_OPEN_LIST,
	DW_AUDIT_SQL_COUNT
};

struct dw_audit_store {
	sqlite3 *db;
	sqlite3_stmt *stmts[DW_AUDIT_SQL_COUNT];
	int log_fd; /* SQLite's log, for dw_audit_store_sync(); -1 to read only */
	uint64_t busy_since_ms; /* when we began to wait for another process */
};

/* The fields of dw_audit_fields, in order. */
#define DW_AUDIT_COLUMNS                                                          \
	"seq, time_us, kind, run, who, request, decision, rule, level_asked, "    \
	"level_achieved, proof_sha256, status, reason, hint, exit_code, signal, " \
	"run_us, cpu_us, memory_bytes, through_seq, through_hash, prev_hash, hash"

/* Make the tables, if they are not there; whoever calls has the file's lock. */
int dw_audit_store_create(struct dw_audit_store *store, const char *path,
                          struct dw_error *err);

/* The file must exist. *ret_new: it has no tables yet. */
int dw_audit_store_open(struct dw_audit_store *store, const char *path, bool stays,
                        bool *ret_new, struct dw_error *err);

/* To read only: nothing in the file changes. */
int dw_audit_store_open_reader(struct dw_audit_store *store, const char *path,
                               struct dw_error *err);

void dw_audit_store_close(struct dw_audit_store *store);

/*
 * Make the log as long now as it will get: a file that grows has to be waited for
 * twice, for its bytes and for its length. Where that fails, it is only slower.
 */
void dw_audit_store_widen(struct dw_audit_store *store);

/* What SQLite says went wrong, behind what we were doing; -1. */
int dw_audit_store_fail(struct dw_audit_store *store, struct dw_error *err,
                        const char *doing);

/* A statement of ours, ready to be bound; NULL with an error. */
sqlite3_stmt *dw_audit_store_stmt(struct dw_audit_store *store, enum dw_audit_sql which,
                                  struct dw_error *err);

/* One that is used once. */
sqlite3_stmt *dw_audit_store_prepare(struct dw_audit_store *store, const char *text,
                                     struct dw_error *err);
int dw_audit_store_exec(struct dw_audit_store *store, const char *text,
                        struct dw_error *err);

/* Wait until all that was committed, by whomever, is on disk. */
int dw_audit_store_sync(struct dw_audit_store *store, struct dw_error *err);

/* Run a statement without rows, and reset it. 0 or -1. */
int dw_audit_store_run(struct dw_audit_store *store, enum dw_audit_sql which,
                       const char *doing, struct dw_error *err);

/* The number and hash of the last record; 0 and the genesis if there is none. */
int dw_audit_store_head(struct dw_audit_store *store, int64_t *ret_seq,
                        char ret_hash[DW_AUDIT_HASH_MAX], struct dw_error *err);

/* All fields must be set, the hash too. */
int dw_audit_store_insert(struct dw_audit_store *store, const struct dw_audit_record *rec,
                          struct dw_error *err);

/*
 * The record at columns from first on; its texts live until the statement moves
 * on. False if a value is none that we can have written.
 */
bool dw_audit_store_row(sqlite3_stmt *stmt, int first, struct dw_audit_record *ret);

static inline void dw_audit_cleanup_stmt(sqlite3_stmt **stmt)
{
	(void)sqlite3_finalize(*stmt);
}

/* One of dw_audit_store_stmt() only stops: it stays ours. */
static inline void dw_audit_cleanup_reset(sqlite3_stmt **stmt)
{
	if (*stmt)
		(void)sqlite3_reset(*stmt);
}

#define autostmt __attribute__((cleanup(dw_audit_cleanup_stmt)))
#define autoreset __attribute__((cleanup(dw_audit_cleanup_reset)))

#endif
