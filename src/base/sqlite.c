/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"

#define PAUSE_US 2000

/*
 * Called while another process writes. SQLite's own handler waits longer each time, up to
 * a tenth of a second, although a transaction takes a fraction of a millisecond.
 */
static int on_busy(void *user, int tries)
{
	const struct dw_sqlite_kind *kind = user;
	struct timespec pause = {.tv_nsec = (tries < 20 ? 200 : PAUSE_US) * 1000L};

	if ((unsigned)tries > kind->busy_ms * 1000U / PAUSE_US)
		return 0;
	(void)nanosleep(&pause, NULL);
	return 1;
}

int dw_sqlite_fail(struct dw_sqlite *store, struct dw_error *err, const char *doing)
{
	int code = sqlite3_errcode(store->db) & 0xff;

	return dw_fail(err, code == SQLITE_BUSY ? DW_E_BUSY : DW_E_INTERNAL, 0, "%s: %s",
	               doing, sqlite3_errmsg(store->db));
}

bool dw_sqlite_damaged(const struct dw_sqlite *store)
{
	int code = sqlite3_errcode(store->db) & 0xff;

	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_IOERR;
}

/* Report a failure as "cannot read the keys file: reason". */
static int fail_file(struct dw_sqlite *store, struct dw_error *err, const char *verb)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "cannot %s the %s file", verb,
	               store->kind->what);
	return dw_sqlite_fail(store, err, text);
}

int dw_sqlite_exec(struct dw_sqlite *store, const char *sql, struct dw_error *err)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return fail_file(store, err, "write");
	return 0;
}

sqlite3_stmt *dw_sqlite_prepare(struct dw_sqlite *store, const char *sql,
                                struct dw_error *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		(void)fail_file(store, err, "read");
	return stmt;
}

void dw_sqlite_bind(sqlite3_stmt *stmt, int first, const struct dw_sqlite_value *values,
                    size_t n)
{
	for (size_t i = 0; stmt && i < n; i++) {
		const struct dw_sqlite_value *v = &values[i];

		if (v->is_number)
			(void)sqlite3_bind_int64(stmt, first + (int)i, v->number);
		else
			(void)sqlite3_bind_text(stmt, first + (int)i, v->text, v->len,
			                        SQLITE_STATIC);
	}
}

int dw_sqlite_step(struct dw_sqlite *store, sqlite3_stmt *stmt, struct dw_error *err)
{
	int r = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;

	if (r == SQLITE_ROW || r == SQLITE_DONE)
		return r == SQLITE_ROW;
	return stmt ? fail_file(store, err,
	                        sqlite3_column_count(stmt) > 0 ? "read" : "write")
	            : -1;
}

int dw_sqlite_change(struct dw_sqlite *store, sqlite3_stmt *stmt, struct dw_error *err)
{
	int r = dw_sqlite_step(store, stmt, err);

	(void)sqlite3_finalize(stmt);
	return r < 0 ? -1 : sqlite3_changes(store->db);
}

int dw_sqlite_number(struct dw_sqlite *store, sqlite3_stmt *stmt, int64_t none,
                     int64_t *ret, struct dw_error *err)
{
	int r = dw_sqlite_step(store, stmt, err);

	if (r >= 0)
		*ret = r > 0 && sqlite3_column_type(stmt, 0) != SQLITE_NULL
		               ? sqlite3_column_int64(stmt, 0)
		               : none;
	(void)sqlite3_finalize(stmt);
	return r < 0 ? -1 : 0;
}

/* Read a number by a statement without parameters; 0 if there is no row, or a NULL. */
static int query_number(struct dw_sqlite *store, const char *sql, int64_t *ret,
                        struct dw_error *err)
{
	return dw_sqlite_number(store, dw_sqlite_prepare(store, sql, err), 0, ret, err);
}

/*
 * This also applies to root: in another user's folder, that user could replace a file
 * that root creates, and could not read it.
 */
static int check_owner(const struct stat *st, const char *path, struct dw_error *err)
{
	if (st->st_uid != geteuid())
		return dw_fail(err, DW_E_DENIED, 0,
		               "%s belongs to user %u; run this as that user", path,
		               st->st_uid);
	return 0;
}

/* A user who can write to the folder can replace the file. */
static int check_folder(const char *path, const char *what, struct dw_error *err)
{
	autofree char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;
	const char *folder = slash ? copy : ".";
	struct stat st;

	if (!copy)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot open %s", path);
	if (slash)
		slash[slash == copy] = '\0';
	if (stat(folder, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot inspect %s", folder);
	if (st.st_uid != 0 && check_owner(&st, folder, err) < 0)
		return -1;
	if ((st.st_mode & 022) != 0)
		return dw_fail(err, DW_E_DENIED, 0,
		               "other users can write to %s and replace the %s file; set "
		               "its mode 0700",
		               folder, what);
	return 0;
}

/*
 * Never opens the file: close() would release the locks that SQLite holds on it for
 * another connection of this process.
 */
static int make_file(struct dw_sqlite *store, const char *path, bool make,
                     struct dw_error *err)
{
	const char *what = store->kind->what;
	struct stat st;
	int r = lstat(path, &st);

	if (r < 0 && errno == ENOENT && make) {
		r = dw_state_make_folders(path, 0700);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r,
			               "cannot create the folder of %s", path);
		if (check_folder(path, what, err) < 0)
			return -1;
		if (mknod(path, S_IFREG | 0600, 0) < 0 && errno != EEXIST)
			return dw_fail(err, DW_E_INTERNAL, errno, "cannot create %s",
			               path);
		r = lstat(path, &st);
	}
	if (r < 0)
		return dw_fail(err, errno == ENOENT ? DW_E_NOT_FOUND : DW_E_INTERNAL,
		               errno, "cannot open the %s file %s", what, path);
	if (!S_ISREG(st.st_mode))
		return dw_fail(err, DW_E_DENIED, 0, "%s is not a regular file", path);
	if (check_owner(&st, path, err) < 0)
		return -1;
	if ((st.st_mode & 077) != 0)
		return dw_fail(err, DW_E_DENIED, 0,
		               "other users can read or write %s; set its mode 0600",
		               path);
	store->dev = st.st_dev;
	store->ino = st.st_ino;
	return check_folder(path, what, err);
}

int dw_sqlite_create(struct dw_sqlite *store, struct dw_error *err)
{
	const struct dw_sqlite_kind *kind = store->kind;
	char text[96];

	(void)snprintf(text, sizeof(text),
	               "PRAGMA application_id = %d; PRAGMA user_version = %d",
	               kind->application_id, kind->version);
	if (dw_sqlite_exec(store, kind->schema, err) < 0)
		return -1;
	return dw_sqlite_exec(store, text, err);
}

int dw_sqlite_check(struct dw_sqlite *store, const char *path, bool *ret_new,
                    struct dw_error *err)
{
	int64_t version = 0, tables = 0, id = 0;

	/*
	 * Count the tables first: another process may create them meanwhile, and sets the
	 * version and the id in the same transaction.
	 */
	*ret_new = false;
	if (query_number(store, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0 ||
	    query_number(store, "PRAGMA user_version", &version, err) < 0 ||
	    query_number(store, "PRAGMA application_id", &id, err) < 0)
		return -1;
	if (id == store->kind->application_id && version == store->kind->version)
		return 0;
	if (id == store->kind->application_id && version > store->kind->version)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s was written by a later version of dewar", path);
	if (version != 0 || tables != 0)
		return dw_fail(err, DW_E_INVALID, 0, "%s is not a dewar %s file", path,
		               store->kind->what);
	*ret_new = true;
	return 0;
}

int dw_sqlite_connect(struct dw_sqlite *store, const struct dw_sqlite_kind *kind,
                      const char *path, int flags, struct dw_error *err)
{
	int r;

	store->kind = kind;
	r = sqlite3_open_v2(path, &store->db,
	                    flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (r != SQLITE_OK) {
		(void)dw_fail(err, DW_E_INTERNAL, 0, "cannot open the %s file %s: %s",
		              kind->what, path, sqlite3_errstr(r));
		dw_sqlite_close(store);
		return -1;
	}
	(void)sqlite3_busy_handler(store->db, on_busy, (void *)kind);
	return 0;
}

static int open_store(struct dw_sqlite *store, const char *path, bool make,
                      struct dw_error *err)
{
	bool is_new;
	int r;

	if (make_file(store, path, make, err) < 0 ||
	    dw_sqlite_connect(store, store->kind, path, SQLITE_OPEN_READWRITE, err) < 0)
		return -1;
	/* A revoked key must not come back after a power failure. */
	if (dw_sqlite_exec(store, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE", err) < 0)
		return dw_wrap(err, "%s", path);
	r = dw_sqlite_check(store, path, &is_new, err);
	if (r == 0 && is_new)
		r = dw_sqlite_create(store, err);
	if (dw_sqlite_exec(store, r == 0 ? "COMMIT" : "ROLLBACK", r == 0 ? err : NULL) <
	    0)
		r = -1;
	if (r < 0)
		return -1;

	/* WAL makes reading faster; without it everything works, too. */
	(void)dw_sqlite_exec(store, "PRAGMA journal_mode = WAL", NULL);
	store->version = dw_sqlite_prepare(store, "PRAGMA data_version", err);
	return store->version ? 0 : -1;
}

int dw_sqlite_open(struct dw_sqlite *store, const struct dw_sqlite_kind *kind,
                   const char *path, bool make, struct dw_error *err)
{
	*store = (struct dw_sqlite){.kind = kind};
	if (open_store(store, path, make, err) == 0)
		return 0;
	dw_sqlite_close(store);
	return -1;
}

void dw_sqlite_close(struct dw_sqlite *store)
{
	(void)sqlite3_finalize(store->version);
	(void)sqlite3_close(store->db);
	*store = (struct dw_sqlite){.kind = store->kind};
}

bool dw_sqlite_replaced(const struct dw_sqlite *store, const char *path)
{
	struct stat st;

	return !store->db || lstat(path, &st) < 0 || st.st_dev != store->dev ||
	       st.st_ino != store->ino;
}

int dw_sqlite_version(struct dw_sqlite *store, int64_t *ret, struct dw_error *err)
{
	int r = dw_sqlite_step(store, store->version, err);

	if (r > 0)
		*ret = sqlite3_column_int64(store->version, 0);
	(void)sqlite3_reset(store->version);
	return r < 0 ? -1 : 0;
}
