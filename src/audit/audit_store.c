/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_own.h"
#include "base/cleanup.h"

/*
 * How many pages the log may have before SQLite moves them into the file, which waits for
 * the disk twice. Each run of the CLI opens the log, which is faster if it is small; a
 * daemon opens it only once.
 */
#define LOG_PAGES 100
#define LOG_PAGES_STAYING 1000
#define LOG_BYTES_STAYING (LOG_PAGES_STAYING * (4096 + 24) + 32)

/*
 * record	the chain. Rows are only appended; they are removed only up to a number
 *		that a checkpoint in the chain names. AUTOINCREMENT keeps the last
 *		number separately, so that rows cut off at the end are noticed.
 * open_run	the runs with an intent and without an end, and their owners (see
 *		audit.c). Not part of the chain; it could be rebuilt from it.
 */
static const char schema[] =
	"CREATE TABLE record ("
	"seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"time_us INTEGER NOT NULL,"
	"kind TEXT NOT NULL CHECK (kind IN ('intent','outcome','interrupted','checkpoint')),"
	/* prose: allow who is a column */
	"run TEXT, who TEXT, request TEXT, decision TEXT, rule TEXT,"
	"level_asked TEXT, level_achieved TEXT, proof_sha256 TEXT,"
	"status TEXT, reason TEXT, hint TEXT, exit_code INTEGER, signal INTEGER,"
	"run_us INTEGER, cpu_us INTEGER, memory_bytes INTEGER,"
	"through_seq INTEGER, through_hash TEXT,"
	"prev_hash TEXT NOT NULL, hash TEXT NOT NULL"
	") STRICT;"
	"CREATE UNIQUE INDEX record_run ON record (run, kind);"
	"CREATE INDEX record_checkpoint ON record (through_seq) WHERE through_seq IS NOT NULL;"
	"CREATE TABLE open_run (run TEXT PRIMARY KEY, seq INTEGER NOT NULL,"
	"owner INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
	"CREATE TRIGGER record_appends BEFORE INSERT ON record "
	"WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM record) "
	"OR (NEW.seq > 1 AND NEW.prev_hash IS NOT"
	" (SELECT hash FROM record ORDER BY seq DESC LIMIT 1)) "
	"BEGIN SELECT RAISE(ABORT, 'records are only appended'); END;"
	"CREATE TRIGGER record_stays BEFORE UPDATE ON record "
	"BEGIN SELECT RAISE(ABORT, 'records do not change'); END;"
	"CREATE TRIGGER record_is_kept BEFORE DELETE ON record "
	"WHEN OLD.seq > coalesce((SELECT max(through_seq) FROM record"
	" WHERE through_seq IS NOT NULL), 0) "
	"BEGIN SELECT RAISE(ABORT, 'records stay, but for those up to a checkpoint'); END;";

static const struct dw_sqlite_kind kind = {
	.what = "audit",
	.application_id = 1148674421, /* "Dwau" */
	.version = 1,
	.schema = schema,
	.busy_ms = 30000,
};

static const char *const sql[] = {
	[DW_AUDIT_SQL_BEGIN] = "BEGIN IMMEDIATE",
	[DW_AUDIT_SQL_COMMIT] = "COMMIT",
	[DW_AUDIT_SQL_ROLLBACK] = "ROLLBACK",
	[DW_AUDIT_SQL_HEAD] = "SELECT seq, hash FROM record ORDER BY seq DESC LIMIT 1",
	[DW_AUDIT_SQL_INSERT] = "INSERT INTO record (" DW_AUDIT_COLUMNS
				") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[DW_AUDIT_SQL_OPEN_ADD] =
		"INSERT INTO open_run (run, seq, owner) VALUES (?, ?, ?)",
	[DW_AUDIT_SQL_OPEN_REMOVE] = "DELETE FROM open_run WHERE run = ?",
	[DW_AUDIT_SQL_OPEN_LIST] =
		"SELECT run, owner, seq FROM open_run WHERE owner IS NOT ?",
};
_Static_assert(ARRAY_SIZE(sql) == DW_AUDIT_SQL_COUNT, "a text for each statement");

sqlite3_stmt *dw_audit_store_stmt(struct dw_audit_store *store, enum dw_audit_sql which,
                                  struct dw_error *err)
{
	if (!store->stmts[which])
		store->stmts[which] = dw_sqlite_prepare(&store->sqlite, sql[which], err);
	return store->stmts[which];
}

int dw_audit_store_run(struct dw_audit_store *store, enum dw_audit_sql which,
                       struct dw_error *err)
{
	autoreset sqlite3_stmt *stmt = dw_audit_store_stmt(store, which, err);

	return dw_sqlite_step(&store->sqlite, stmt, err);
}

void dw_audit_store_rollback(struct dw_audit_store *store)
{
	if (!sqlite3_get_autocommit(store->sqlite.db))
		(void)dw_audit_store_run(store, DW_AUDIT_SQL_ROLLBACK, NULL);
}

/*
 * A commit writes its pages to the log without waiting for the disk; this function waits.
 * SQLite would also sync the folder of the log each time the log is opened, which doubles
 * the time of a run of the CLI. We may open the log as well as SQLite: SQLite holds no
 * locks on it, and the log exists for as long as this connection.
 */
int dw_audit_store_sync(struct dw_audit_store *store, struct dw_error *err)
{
	if (fdatasync(store->log_fd) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot write audit records to disk");
	return 0;
}

/*
 * Only the process that holds the write transaction appends to the log, so this function
 * begins one before it extends the log. SQLite verifies checksums, so it does not take
 * the zeros for pages of a commit.
 */
void dw_audit_store_widen(struct dw_audit_store *store)
{
	static const char zeros[1 << 16];
	struct stat st;
	ssize_t n = 1;

	if (dw_audit_store_run(store, DW_AUDIT_SQL_BEGIN, NULL) < 0)
		return;
	if (fstat(store->log_fd, &st) < 0)
		n = 0;
	while (n > 0 && st.st_size < LOG_BYTES_STAYING) {
		n = pwrite(store->log_fd, zeros, sizeof(zeros), st.st_size);
		st.st_size += n;
	}
	(void)fdatasync(store->log_fd);
	dw_audit_store_rollback(store);
}

/* Create the log if necessary: another process may have removed it. */
static int open_log(struct dw_audit_store *store, const char *path, struct dw_error *err)
{
	char *name = sqlite3_mprintf("%s-wal", path);

	if (name)
		store->log_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		                     0600);
	sqlite3_free(name);
	if (store->log_fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open %s-wal", path);
	return 0;
}

static int connect_to(struct dw_audit_store *store, const char *path, int flags,
                      struct dw_error *err)
{
	*store = (struct dw_audit_store){.log_fd = -1};
	return dw_sqlite_connect(&store->sqlite, &kind, path, flags, err);
}

int dw_audit_store_open(struct dw_audit_store *store, const char *path, bool stays,
                        bool *ret_new, struct dw_error *err)
{
	if (connect_to(store, path, SQLITE_OPEN_READWRITE, err) < 0)
		return -1;
	/* Otherwise the last process to close moves the log, and waits for the disk. */
	(void)sqlite3_db_config(store->sqlite.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
	                        NULL);
	(void)sqlite3_wal_autocheckpoint(store->sqlite.db,
	                                 stays ? LOG_PAGES_STAYING : LOG_PAGES);
	if (dw_sqlite_check(&store->sqlite, path, ret_new, err) < 0 ||
	    dw_sqlite_exec(&store->sqlite, "PRAGMA synchronous = NORMAL", err) < 0 ||
	    (!*ret_new && open_log(store, path, err) < 0)) {
		dw_audit_store_close(store);
		return -1;
	}
	return 0;
}

/* Returns true if there may be a log with records that are not in the file yet. */
static bool has_log(const char *path)
{
	char *name = sqlite3_mprintf("%s-wal", path);
	struct stat st;
	bool has = !name || (stat(name, &st) == 0 && st.st_size > 0);

	sqlite3_free(name);
	return has;
}

/*
 * SQLite creates files next to the one that it reads, which fails on a read-only medium.
 * No other process can write there either, so without a log the file alone is complete.
 */
static int reopen_alone(struct dw_audit_store *store, const char *path,
                        struct dw_error *err)
{
	bool empty = false;
	char *uri;
	int r;

	if (strpbrk(path, "?#%") || has_log(path))
		return -1;
	dw_audit_store_close(store);
	uri = sqlite3_mprintf("file:%s?immutable=1", path);
	if (!uri)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot open %s", path);
	r = connect_to(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
	sqlite3_free(uri);
	return r < 0 ? -1 : dw_sqlite_check(&store->sqlite, path, &empty, err);
}

int dw_audit_store_open_reader(struct dw_audit_store *store, const char *path,
                               struct dw_error *err)
{
	bool empty = false;
	int r, code;

	if (access(path, R_OK) < 0)
		return dw_fail(err, errno == ENOENT ? DW_E_NOT_FOUND : DW_E_INTERNAL,
		               errno, "cannot read the audit file %s", path);
	if (connect_to(store, path, SQLITE_OPEN_READONLY, err) < 0)
		return -1;
	r = dw_sqlite_check(&store->sqlite, path, &empty, err);
	code = sqlite3_errcode(store->sqlite.db) & 0xff;
	if (r < 0 && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY))
		r = reopen_alone(store, path, err);
	/* If the file is damaged, let the caller read it as far as possible. */
	if (r < 0 && store->sqlite.db &&
	    (sqlite3_errcode(store->sqlite.db) & 0xff) == SQLITE_CORRUPT)
		r = 0;
	if (r == 0 && empty)
		r = dw_fail(err, DW_E_NOT_FOUND, 0, "%s holds no records yet", path);
	if (r < 0)
		dw_audit_store_close(store);
	return r;
}

int dw_audit_store_create(struct dw_audit_store *store, const char *path,
                          struct dw_error *err)
{
	struct dw_sqlite *sqlite = &store->sqlite;
	bool empty = false;

	/* Another process may have created the tables while we waited for the lock. */
	if (dw_sqlite_check(sqlite, path, &empty, err) < 0)
		return -1;
	if (!empty)
		return open_log(store, path, err);
	if (dw_sqlite_exec(sqlite, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE", err) < 0)
		return -1;
	if (dw_sqlite_create(sqlite, err) < 0 ||
	    dw_sqlite_exec(sqlite, "COMMIT", err) < 0) {
		(void)dw_sqlite_exec(sqlite, "ROLLBACK", NULL);
		return -1;
	}
	return open_log(store, path, err);
}

void dw_audit_store_close(struct dw_audit_store *store)
{
	for (size_t i = 0; i < DW_AUDIT_SQL_COUNT; i++)
		(void)sqlite3_finalize(store->stmts[i]);
	dw_sqlite_close(&store->sqlite);
	dw_cleanup_close(&store->log_fd);
	*store = (struct dw_audit_store){.log_fd = -1};
}

int dw_audit_store_head(struct dw_audit_store *store, int64_t *ret_seq,
                        char ret_hash[DW_AUDIT_HASH_MAX], struct dw_error *err)
{
	autoreset sqlite3_stmt *stmt = dw_audit_store_stmt(store, DW_AUDIT_SQL_HEAD, err);
	int r = dw_sqlite_step(&store->sqlite, stmt, err);
	const char *hash;

	if (r < 0)
		return -1;
	if (r == 0) {
		*ret_seq = 0;
		memcpy(ret_hash, dw_audit_genesis, DW_AUDIT_HASH_MAX);
		return 0;
	}
	hash = (const char *)sqlite3_column_text(stmt, 1);
	if (!hash || strlen(hash) != DW_AUDIT_HASH_MAX - 1)
		return dw_fail(
			err, DW_E_INTERNAL, 0,
			"the last audit record has no hash; see `dewar audit verify`");
	*ret_seq = sqlite3_column_int64(stmt, 0);
	memcpy(ret_hash, hash, DW_AUDIT_HASH_MAX);
	return 0;
}

int dw_audit_store_insert(struct dw_audit_store *store, const struct dw_audit_record *rec,
                          struct dw_error *err)
{
	autoreset sqlite3_stmt *stmt = dw_audit_store_stmt(store, DW_AUDIT_SQL_INSERT,
	                                                   err);
	struct dw_audit_record copy = *rec;
	int r = SQLITE_OK;

	if (!stmt)
		return -1;
	for (size_t i = 0; i < DW_AUDIT_FIELDS && r == SQLITE_OK; i++) {
		const struct dw_audit_text *text = dw_audit_text(&copy, i);
		int at = (int)i + 1;

		if (dw_audit_fields[i].type == DW_AUDIT_TEXT)
			/* NULL data binds as NULL. */
			r = sqlite3_bind_text64(stmt, at, text->data, text->len,
			                        SQLITE_STATIC, SQLITE_UTF8);
		else if (*dw_audit_number(&copy, i) == DW_AUDIT_NONE)
			r = sqlite3_bind_null(stmt, at);
		else
			r = sqlite3_bind_int64(stmt, at, *dw_audit_number(&copy, i));
	}
	if (r == SQLITE_OK)
		r = sqlite3_step(stmt);
	if (r != SQLITE_DONE)
		(void)dw_sqlite_fail(&store->sqlite, err, "cannot write an audit record");
	/* The bound strings may be freed before the statement is used again. */
	(void)sqlite3_reset(stmt);
	(void)sqlite3_clear_bindings(stmt);
	return r == SQLITE_DONE ? 0 : -1;
}

bool dw_audit_store_row(sqlite3_stmt *stmt, int first, struct dw_audit_record *ret)
{
	bool good = true;

	dw_audit_record_init(ret);
	for (size_t i = 0; i < DW_AUDIT_FIELDS; i++) {
		int at = first + (int)i, type = sqlite3_column_type(stmt, at);
		bool number = dw_audit_fields[i].type == DW_AUDIT_NUMBER;

		if (type == SQLITE_NULL)
			continue;
		if (type != (number ? SQLITE_INTEGER : SQLITE_TEXT)) {
			good = false;
		} else if (number) {
			*dw_audit_number(ret, i) = sqlite3_column_int64(stmt, at);
			good = good && *dw_audit_number(ret, i) != DW_AUDIT_NONE;
		} else {
			struct dw_audit_text *text = dw_audit_text(ret, i);

			text->data = (const char *)sqlite3_column_text(stmt, at);
			text->len = (size_t)sqlite3_column_bytes(stmt, at);
			good = good && text->data;
		}
	}
	return good;
}
