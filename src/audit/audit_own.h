/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_AUDIT_OWN_H
#define DW_AUDIT_AUDIT_OWN_H

#include "audit/audit.h"
#include "base/sqlite.h"

/* Private to src/audit. */

/* ---- audit_store.c: one connection to the file; one thread at a time uses it ---- */

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
	struct dw_sqlite sqlite;
	sqlite3_stmt *stmts[DW_AUDIT_SQL_COUNT]; /* prepared once, for speed */
	int log_fd; /* SQLite's log, for dw_audit_store_sync(); -1 for a reader */
};

struct dw_audit_reader {
	struct dw_audit_store store;
	int locks_fd; /* -1: cannot be opened; no open run counts as running */
};

/* The names in dw_audit_fields, in the same order. */
#define DW_AUDIT_COLUMNS                                                          \
	/* prose: allow who is a column */                                        \
	"seq, time_us, kind, run, who, request, decision, rule, level_asked, "    \
	"level_achieved, proof_sha256, status, reason, hint, exit_code, signal, " \
	"run_us, cpu_us, memory_bytes, through_seq, through_hash, prev_hash, hash"

/* Open an existing file. If *ret_new, call dw_audit_store_create(): it has no tables. */
int dw_audit_store_open(struct dw_audit_store *store, const char *path, bool stays,
                        bool *ret_new, struct dw_error *err);

/* Create the tables unless they exist; the caller holds the lock of the file. */
int dw_audit_store_create(struct dw_audit_store *store, const char *path,
                          struct dw_error *err);

/* Open the file for reading only: it does not change. */
int dw_audit_store_open_reader(struct dw_audit_store *store, const char *path,
                               struct dw_error *err);

void dw_audit_store_close(struct dw_audit_store *store);

/*
 * Give the log its final length now: a growing file costs two waits for the disk, one
 * for its bytes and one for its length. A failure only makes writing slower.
 */
void dw_audit_store_widen(struct dw_audit_store *store);

/* One of the prepared statements, ready to be bound; NULL on failure. */
sqlite3_stmt *dw_audit_store_stmt(struct dw_audit_store *store, enum dw_audit_sql which,
                                  struct dw_error *err);

/* Run a prepared statement that takes no parameters and returns no rows. */
int dw_audit_store_run(struct dw_audit_store *store, enum dw_audit_sql which,
                       struct dw_error *err);

/* Undo the transaction, if one is open. */
void dw_audit_store_rollback(struct dw_audit_store *store);

/* Wait until all committed records, of any process, are on disk. */
int dw_audit_store_sync(struct dw_audit_store *store, struct dw_error *err);

/* The number and hash of the last record, or 0 and the genesis hash. */
int dw_audit_store_head(struct dw_audit_store *store, int64_t *ret_seq,
                        char ret_hash[DW_AUDIT_HASH_MAX], struct dw_error *err);

/* Write a record, in which all fields must be set, including the hash. */
int dw_audit_store_insert(struct dw_audit_store *store, const struct dw_audit_record *rec,
                          struct dw_error *err);

/*
 * Read the record from the columns that begin at first; its strings live until the next
 * step. Returns false if a value has a type that Dewar never writes.
 */
bool dw_audit_store_row(sqlite3_stmt *stmt, int first, struct dw_audit_record *ret);

/* For statements of dw_audit_store_stmt(): they are reset, not finalized. */
static inline void dw_audit_cleanup_reset(sqlite3_stmt **stmt)
{
	if (*stmt)
		(void)sqlite3_reset(*stmt);
}
#define autoreset __attribute__((cleanup(dw_audit_cleanup_reset)))

/* ---- chain.c, retain.c: changes to the chain, inside a transaction of the caller ---- */

/* The end of the chain, which the next record refers to. */
struct dw_audit_tail {
	int64_t seq;
	char hash[DW_AUDIT_HASH_MAX];
};

/* Give the record its number, time and hashes, write it, and move the tail. */
int dw_audit_chain_append(struct dw_audit_store *store, struct dw_audit_tail *tail,
                          struct dw_audit_record *rec, struct dw_error *err);

/* Mark the run as open and owned by this process. */
int dw_audit_chain_open(struct dw_audit_store *store,
                        const struct dw_audit_record *intent, int64_t owner,
                        struct dw_error *err);

/* Mark the run as ended; an error if it was not open. */
int dw_audit_chain_close(struct dw_audit_store *store, struct dw_audit_text run,
                         struct dw_error *err);

/* Append `interrupted` for each open run of another process that has ended. */
int dw_audit_chain_recover(struct dw_audit_store *store, struct dw_audit_tail *tail,
                           int locks_fd, int64_t us, size_t *ret_n, struct dw_error *err);

/* Remove records that need not be kept; append a checkpoint that names the last one. */
int dw_audit_chain_retain(struct dw_audit_store *store, struct dw_audit_tail *tail,
                          const struct dw_audit_keep *keep, size_t *ret_removed,
                          struct dw_error *err);

/*
 * ---- locks.c: the path of the file, and which processes have it open ----
 *
 * Next to the audit file is an empty file of locks, in which processes lock single bytes:
 * byte 0 while the tables are created, and one random byte for each process that writes.
 * The kernel releases a lock when its process ends, so an unlocked byte means that its
 * owner has ended.
 */

/* Create the file and its folder if they are missing; mode 0600 and 0700. */
int dw_audit_file_make(const char *path, struct dw_error *err);

/* Sync the folder of the file, so that the names of new files are on disk. */
void dw_audit_folder_sync(const char *path);

/* Open the file of locks; create it if it is missing. */
int dw_audit_locks_open(const char *path, int *ret_fd, struct dw_error *err);

/* Open the file of locks for reading; -1 if that fails, as when it is missing. */
int dw_audit_locks_look(const char *path);

/* Lock a byte that is free, for as long as the descriptor is open. */
int dw_audit_locks_claim(int fd, int64_t *ret_owner, struct dw_error *err);

/* Returns true if the byte is locked through another descriptor. */
bool dw_audit_locks_held(int fd, int64_t owner);

/* Lock byte 0, and wait for that if necessary; or unlock it. */
int dw_audit_locks_enter(int fd, struct dw_error *err);
void dw_audit_locks_leave(int fd);

#endif
