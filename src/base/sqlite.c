/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/state.h"

/* How long we wait for others that write. */
#define BUSY_MAX_MS 10000

int dw_sqlite_fail(struct dw_sqlite *store, struct dw_error *err, const char *doing)
{
	int code = sqlite3_errcode(store->db) & 0xff;

	return dw_fail(err, code == SQLITE_BUSY ? DW_E_BUSY : DW_E_INTERNAL, 0, "%s: %s",
	               doing, sqlite3_errmsg(store->db));
}

static int fail_file(struct dw_sqlite *store, struct dw_error *err, const char *doing)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "%s the file of %s", doing, store->kind->what);
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

/* A number that a statement with one row gives. */
static int ask(struct dw_sqlite *store, const char *sql, int64_t *ret,
               struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_sqlite_prepare(store, sql, err);

	if (!stmt)
		return -1;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return fail_file(store, err, "read");
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}

/*
 * Root is no exception: what it makes in another's folder the other can exchange
 * under its hands, and what it leaves there the other cannot read.
 */
static int check_owner(const struct stat *st, const char *path, struct dw_error *err)
{
	if (st->st_uid != geteuid())
		return dw_fail(err, DW_E_DENIED, 0,
		               "%s is of the user with the id %u: do this as that user",
		               path, st->st_uid);
	return 0;
}

/* Who can write there can put another file in the place of ours. */
static int check_folder(const char *path, const char *what, struct dw_error *err)
{
	autofree char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;
	const char *folder = slash ? copy : ".";
	struct stat st;

	if (!copy)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "open %s", path);
	if (slash)
		slash[slash == copy] = '\0';
	if (stat(folder, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "look at %s", folder);
	if (st.st_uid != 0 && check_owner(&st, folder, err) < 0)
		return -1;
	if ((st.st_mode & 022) != 0)
		return dw_fail(err, DW_E_DENIED, 0,
		               "others can write to %s, and so replace the %s: make its "
		               "mode 0700",
		               folder, what);
	return 0;
}

/*
 * The file is never opened here: closing it would take away, without a word, the
 * locks that SQLite holds on it for another part of this process.
 */
static int make_place(struct dw_sqlite *store, const char *path, bool make,
                      struct dw_error *err)
{
	const char *what = store->kind->what;
	struct stat st;
	int r = lstat(path, &st);

	if (r < 0 && errno == ENOENT && make) {
		r = dw_state_make_folders(path, 0700);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r, "make the folder of %s",
			               path);
		if (check_folder(path, what, err) < 0)
			return -1;
		if (mknod(path, S_IFREG | 0600, 0) < 0 && errno != EEXIST)
			return dw_fail(err, DW_E_INTERNAL, errno, "make %s", path);
		r = lstat(path, &st);
	}
	if (r < 0)
		return dw_fail(err, errno == ENOENT ? DW_E_NOT_FOUND : DW_E_INTERNAL,
		               errno, "open the %s in %s", what, path);
	if (!S_ISREG(st.st_mode))
		return dw_fail(err, DW_E_DENIED, 0, "%s is not a file", path);
	if (check_owner(&st, path, err) < 0)
		return -1;
	if ((st.st_mode & 077) != 0)
		return dw_fail(err, DW_E_DENIED, 0,
		               "others can read or write %s: make its mode 0600", path);
	store->dev = st.st_dev;
	store->ino = st.st_ino;
	return check_folder(path, what, err);
}

static int make_tables(struct dw_sqlite *store, struct dw_error *err)
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

/* Make the tables, or see that they are those that we know. In a transaction. */
static int check_tables(struct dw_sqlite *store, const char *path, struct dw_error *err)
{
	int64_t version = 0, things = 0, id = 0;

	if (ask(store, "PRAGMA user_version", &version, err) < 0 ||
	    ask(store, "SELECT count(*) FROM sqlite_schema", &things, err) < 0)
		return -1;
	if (version == 0 && things == 0)
		return make_tables(store, err);
	if (ask(store, "PRAGMA application_id", &id, err) < 0)
		return -1;
	if (id == store->kind->application_id && version > store->kind->version)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s is of a later version of dewar", path);
	if (version != store->kind->version || id != store->kind->application_id)
		return dw_fail(err, DW_E_INVALID, 0, "%s holds no %s of dewar", path,
		               store->kind->what);
	return 0;
}

static int open_store(struct dw_sqlite *store, const char *path, bool make,
                      struct dw_error *err)
{
	int r;

	if (make_place(store, path, make, err) < 0)
		return -1;
	r = sqlite3_open_v2(path, &store->db,
	                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
	                            SQLITE_OPEN_EXRESCODE,
	                    NULL);
	if (r != SQLITE_OK)
		return dw_fail(err, DW_E_INTERNAL, 0, "open the %s in %s: %s",
		               store->kind->what, path, sqlite3_errstr(r));
	(void)sqlite3_busy_timeout(store->db, BUSY_MAX_MS);

	/* What was revoked or denied must not come back with the power. */
	if (dw_sqlite_exec(store, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE", err) < 0)
		return dw_wrap(err, "%s", path);
	r = check_tables(store, path, err);
	if (dw_sqlite_exec(store, r == 0 ? "COMMIT" : "ROLLBACK", r == 0 ? err : NULL) <
	    0)
		r = -1;
	if (r < 0)
		return -1;

	/* Reading is faster with it. If somebody is in our way, it stays as it is. */
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
	bool got = sqlite3_step(store->version) == SQLITE_ROW;

	if (got)
		*ret = sqlite3_column_int64(store->version, 0);
	else
		(void)fail_file(store, err, "read");
	(void)sqlite3_reset(store->version);
	return got ? 0 : -1;
}
