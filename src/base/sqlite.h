/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_SQLITE_H
#define DW_BASE_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dewar/error.h"

/*
 * An SQLite file for its owner alone, which several processes may have open: what the
 * keys and the approvals have in common. One thread at a time.
 */

struct dw_sqlite_kind {
	const char *what;       /* is in it, for errors: "keys" */
	int32_t application_id; /* for file(1) and for us */
	int version;            /* of the tables */
	const char *schema;     /* that makes them */
};

struct dw_sqlite {
	const struct dw_sqlite_kind *kind;
	sqlite3 *db; /* NULL: it is closed */
	sqlite3_stmt *version;
	dev_t dev; /* the file that it is */
	ino_t ino;
};

/*
 * Make the file and its folder if need be, with mode 0600 and 0700; without make, a
 * file that is not there is DW_E_NOT_FOUND. A file that is not ours alone, or whose
 * folder others can write to, is DW_E_DENIED. On failure the store is closed.
 */
int dw_sqlite_open(struct dw_sqlite *store, const struct dw_sqlite_kind *kind,
                   const char *path, bool make, struct dw_error *err);
void dw_sqlite_close(struct dw_sqlite *store);

/* Is the file that we have open not the one at the path any more? */
bool dw_sqlite_replaced(const struct dw_sqlite *store, const char *path);

/* A number that changes with what others, not we, write to the file; some 4 us. */
int dw_sqlite_version(struct dw_sqlite *store, int64_t *ret, struct dw_error *err);

/* What SQLite says went wrong, behind what we were doing; -1. */
int dw_sqlite_fail(struct dw_sqlite *store, struct dw_error *err, const char *doing);

/* Statements without rows, and one to be stepped; NULL with an error. */
int dw_sqlite_exec(struct dw_sqlite *store, const char *sql, struct dw_error *err);
sqlite3_stmt *dw_sqlite_prepare(struct dw_sqlite *store, const char *sql,
                                struct dw_error *err);

static inline void dw_sqlite_cleanup_stmt(sqlite3_stmt **stmt)
{
	(void)sqlite3_finalize(*stmt);
}
#define autostmt __attribute__((cleanup(dw_sqlite_cleanup_stmt)))

#endif
