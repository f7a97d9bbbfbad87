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
	int log_fd; /* of SQLite's log, for dw_audit_store_sync(); -1 for a reader */
};

struct dw_audit_reader {
	struct dw_audit_store store;
	int locks_fd; /* -1: no process can be running */
};

/* The fields of dw_audit_fields, in order. */
#define DW_AUDIT_COLUMNS                                                          \
	/* prose: allow who is a column */                                        \
	"seq, time_us, kind, run, who, request, decision, rule, level_asked, "    \
	"level_achieved, proof_sha256, status, reason, hint, exit_code, signal, " \
	"run_us, cpu_us, memory_bytes, through_seq, through_hash, prev_hash, hash"

/* Open an existing file. *ret_new: it has no tables; then call dw_audit_store_create(). */
int dw_audit_store_open(struct dw_audit_store *store, const char *path, bool stays,
                        bool *ret_new, struct dw_error *err);

/* Create the tables unless they exist; the caller holds the lock of the file. */
int dw_audit_store_create(struct dw_audit_store *store, const char *path,
                          struct dw_error *err);

/* Open it for reading only: the file does not change. */
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

/* Run a prepared statement without parameters and rows. */
int dw_audit_store_run(struct dw_audit_store *store, enum dw_audit_sql which,
                       struct dw_error *err);

/* Undo the transaction, if one is open. */
void dw_audit_store_rollback(struct dw_audit_store *store);

/* Wait until all committed records, of any process, are on disk. */
int dw_audit_store_sync(struct dw_audit_store *store, struct dw_error *err);

/* The number and hash of the last record; 0 and the genesis hash without one. */
int dw_audit_store_head(struct dw_audit_store *store, int64_t *ret_seq,
                        char ret_hash[DW_AUDIT_HASH_MAX], struct dw_error *err);

/* All fields must be set, including the hash. */
int dw_audit_store_insert(struct dw_audit_store *store, const struct dw_audit_record *rec,
                          struct dw_error *err);

/*
 * The record in the columns from first on; its texts live until the next step. Returns
 * false if a value has a type that Dewar never writes.
 */
bool dw_audit_store_row(sqlite3_stmt *stmt, int first, struct dw_audit_record *ret);

/* A statement of dw_audit_store_stmt() is reset, not finalized. */
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

/* Mark it as ended; an error if it was not open. */
int dw_audit_chain_close(struct dw_audit_store *store, struct dw_audit_text run,
                         struct dw_error *err);

/* Append `interrupted` for each open run of another process that has ended. */
int dw_audit_chain_recover(struct dw_audit_store *store, struct dw_audit_tail *tail,
                           int locks_fd, int64_t us, size_t *ret_n, struct dw_error *err);

/* Append a checkpoint, and remove the records up to it. */
int dw_audit_chain_retain(struct dw_audit_store *store, struct dw_audit_tail *tail,
                          const struct dw_audit_keep *keep, size_t *ret_removed,
                          struct dw_error *err);

/*
 * ---- locks.c: the path of the file, and which processes have it open ----
 *
 * Beside the file lies an empty one, of which single bytes are locked: byte 0 while the
 * tables are created, and one random byte by each process that writes. The kernel
 * releases a lock when its process ends, so a free byte means that its owner is gone.
 */

/* Create the file and its folder if they are missing; mode 0600 and 0700. */
int dw_audit_file_make(const char *path, struct dw_error *err);

/* Put the names of new files in the folder on disk. */
void dw_audit_folder_sync(const char *path);

/* Create and open the file of locks; or open it for reading, -1 if it is missing. */
int dw_audit_locks_open(const char *path, int *ret_fd, struct dw_error *err);
int dw_audit_locks_look(const char *path);

/* Lock a free byte, for as long as the descriptor is open. */
int dw_audit_locks_claim(int fd, int64_t *ret_owner, struct dw_error *err);

/* Returns true if the byte is locked through another descriptor. */
bool dw_audit_locks_held(int fd, int64_t owner);

/* Wait for byte 0 and lock it; unlock it. */
int dw_audit_locks_enter(int fd, struct dw_error *err);
void dw_audit_locks_leave(int fd);

#endif
