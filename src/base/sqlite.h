/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_SQLITE_H
#define DW_BASE_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dewar/error.h"

/*
 * An SQLite file that several processes may have open: audit records, keys, approvals.
 * One thread at a time uses a struct dw_sqlite. If another process locks the file for too
 * long, that is DW_E_BUSY; other failures of SQLite, such as a full disk, are
 * DW_E_INTERNAL.
 */

struct dw_sqlite_kind {
	const char *what;       /* for errors: "keys" */
	int32_t application_id; /* in the file's header, for file(1) */
	int version;            /* of the tables */
	const char *schema;     /* creates the tables */
	unsigned busy_ms;       /* the longest wait for another writer */
};

struct dw_sqlite {
	const struct dw_sqlite_kind *kind;
	sqlite3 *db; /* NULL while closed */
	sqlite3_stmt *version;
	dev_t dev; /* dev and ino identify the open file */
	ino_t ino;
};

/*
 * Open a file that only its owner may read. Create it and its folder with mode 0600 and
 * 0700 if make is set; otherwise a missing file is DW_E_NOT_FOUND. DW_E_DENIED if other
 * users can read or write the file, or write to its folder. On failure it is closed.
 */
int dw_sqlite_open(struct dw_sqlite *store, const struct dw_sqlite_kind *kind,
                   const char *path, bool make, struct dw_error *err);
void dw_sqlite_close(struct dw_sqlite *store);

/*
 * The steps of dw_sqlite_open(), for a file with other rules. dw_sqlite_connect() takes
 * flags of sqlite3_open_v2(), and closes the file on failure. dw_sqlite_check() checks
 * that the version of the tables is known; *ret_new is set if there are no tables yet.
 * dw_sqlite_create() creates them; the caller has begun a transaction.
 */
int dw_sqlite_connect(struct dw_sqlite *store, const struct dw_sqlite_kind *kind,
                      const char *path, int flags, struct dw_error *err);
int dw_sqlite_check(struct dw_sqlite *store, const char *path, bool *ret_new,
                    struct dw_error *err);
int dw_sqlite_create(struct dw_sqlite *store, struct dw_error *err);

/* Returns true if the open file is no longer the one at path. */
bool dw_sqlite_replaced(const struct dw_sqlite *store, const char *path);

/* A number that changes when another connection writes to the file; takes some 4 us. */
int dw_sqlite_version(struct dw_sqlite *store, int64_t *ret, struct dw_error *err);

/* Report the last failure of SQLite as "doing: reason", and return -1. */
int dw_sqlite_fail(struct dw_sqlite *store, struct dw_error *err, const char *doing);

/* Returns true if the last failure of SQLite means that the file is damaged. */
bool dw_sqlite_damaged(const struct dw_sqlite *store);

/* Run statements that take no parameters and return no rows. */
int dw_sqlite_exec(struct dw_sqlite *store, const char *sql, struct dw_error *err);

/* Prepare a statement, to be stepped and finalized (autostmt); NULL on failure. */
sqlite3_stmt *dw_sqlite_prepare(struct dw_sqlite *store, const char *sql,
                                struct dw_error *err);

/* A value for a parameter. Its string must live until the statement is finalized. */
struct dw_sqlite_value {
	bool is_number;
	int64_t number;
	const char *text; /* NULL binds as NULL */
	int len;          /* -1: up to the NUL */
};
#define DW_SQL_NUMBER(n) \
	((struct dw_sqlite_value){.is_number = true, .number = (int64_t)(n)})
#define DW_SQL_TEXT(value) ((struct dw_sqlite_value){.text = (value), .len = -1})
#define DW_SQL_CUT(value, n) ((struct dw_sqlite_value){.text = (value), .len = (int)(n)})

void dw_sqlite_bind(sqlite3_stmt *stmt, int first, const struct dw_sqlite_value *values,
                    size_t n);

/* Bind values to parameters 1, 2, ...: DW_SQL_BIND(stmt, DW_SQL_TEXT(id), ...). */
#define DW_SQL_BIND(stmt, ...)                                                 \
	dw_sqlite_bind(stmt, 1, (const struct dw_sqlite_value[]){__VA_ARGS__}, \
	               sizeof((const struct dw_sqlite_value[]){__VA_ARGS__}) / \
	                       sizeof(struct dw_sqlite_value))

/*
 * dw_sqlite_step() steps a statement: 1 with a row, 0 without (more) rows, or -1.
 * dw_sqlite_change() runs a statement that changes rows, and finalizes it: the number of
 * changed rows, or -1. Both return -1 if the statement is NULL, which means that
 * dw_sqlite_prepare() has failed.
 */
int dw_sqlite_step(struct dw_sqlite *store, sqlite3_stmt *stmt, struct dw_error *err);
int dw_sqlite_change(struct dw_sqlite *store, sqlite3_stmt *stmt, struct dw_error *err);

/*
 * Set *ret to the first number that a statement selects, or to none if there is no row or
 * a NULL; then finalize the statement. Returns -1 if the statement is NULL.
 */
int dw_sqlite_number(struct dw_sqlite *store, sqlite3_stmt *stmt, int64_t none,
                     int64_t *ret, struct dw_error *err);

static inline void dw_sqlite_cleanup_stmt(sqlite3_stmt **stmt)
{
	(void)sqlite3_finalize(*stmt);
}
#define autostmt __attribute__((cleanup(dw_sqlite_cleanup_stmt)))

#endif
