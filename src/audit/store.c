/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* "Dwau", for file(1) and for us. */
#define APPLICATION_ID "1148674421"
#define SCHEMA_VERSION 1

/* How long we wait for others that write. */
#define BUSY_MAX_MS 30000

/*
 * Pages in the log before they are moved into the file, for which we wait for the
 * disk twice. A small log is read quickly by the next one to open it, and a CLI
 * opens it for each run; who stays need not care.
 */
#define LOG_PAGES 100
#define LOG_PAGES_STAYING 1000
#define LOG_BYTES_STAYING (LOG_PAGES_STAYING * (4096 + 24) + 32)

/*
 * record	the chain. Rows are only appended, one behind the other; rows go only
 *		if a checkpoint in the chain says up to where. AUTOINCREMENT keeps the
 *		last number beside it, so that rows cut off at the end are missed.
 * open_run	the runs that have an intent and no end yet, and whose they are (see
 *		audit.c). Not part of the chain, and could be made anew from it.
 */
static const char schema[] =
	"CREATE TABLE record ("
	"seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"time_us INTEGER NOT NULL,"
	"kind TEXT NOT NULL CHECK (kind IN ('intent','outcome','interrupted','checkpoint')),"
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
	"BEGIN SELECT RAISE(ABORT, 'records stay, but for those up to a checkpoint'); END;"
	"PRAGMA application_id = " APPLICATION_ID ";"
	"PRAGMA user_version = 1;";
_Static_assert(SCHEMA_VERSION == 1, "the last line of the schema says so");

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

int dw_audit_store_fail(struct dw_audit_store *store, struct dw_error *err,
                        const char *doing)
{
	int code = sqlite3_errcode(store->db) & 0xff;

	return dw_fail(err, code == SQLITE_BUSY ? DW_E_BUSY : DW_E_INTERNAL, 0, "%s: %s",
	               doing, sqlite3_errmsg(store->db));
}

/*
 * Somebody else writes. SQLite's own way is to wait longer and longer, up to a
 * tenth of a second, where what we wait for takes a fraction of a millisecond.
 */
static int on_busy(void *user, int tries)
{
	struct dw_audit_store *store = user;
	struct timespec pause = {.tv_nsec = tries < 20 ? 200000 : 2000000};

	if (tries == 0)
		store->busy_since_ms = dw_now_ms();
	if (dw_now_ms() - store->busy_since_ms > BUSY_MAX_MS)
		return 0;
	(void)nanosleep(&pause, NULL);
	return 1;
}

sqlite3_stmt *dw_audit_store_prepare(struct dw_audit_store *store, const char *text,
                                     struct dw_error *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(store->db, text, -1, &stmt, NULL) != SQLITE_OK)
		(void)dw_audit_store_fail(store, err, "read the audit file");
	return stmt;
}

sqlite3_stmt *dw_audit_store_stmt(struct dw_audit_store *store, enum dw_audit_sql which,
                                  struct dw_error *err)
{
	if (!store->stmts[which])
		store->stmts[which] = dw_audit_store_prepare(store, sql[which], err);
	return store->stmts[which];
}

int dw_audit_store_exec(struct dw_audit_store *store, const char *text,
                        struct dw_error *err)
{
	if (sqlite3_exec(store->db, text, NULL, NULL, NULL) != SQLITE_OK)
		return dw_audit_store_fail(store, err, "set up the audit file");
	return 0;
}

/*
 * A commit puts its pages into the log, and does not wait: we do, where we must.
 * SQLite would wait for the log's folder too, once for each time that it is opened,
 * which for a run of the CLI is as long again. The log can be opened and closed
 * beside SQLite, since it holds no locks on it; and it stays while we are here.
 */
int dw_audit_store_sync(struct dw_audit_store *store, struct dw_error *err)
{
	if (fdatasync(store->log_fd) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "write audit records to disk");
	return 0;
}

/*
 * Nobody but who has the transaction adds to the log, so that its end is ours to
 * move meanwhile. Zeros at the end are no records to SQLite, which goes by checksums.
 */
void dw_audit_store_widen(struct dw_audit_store *store)
{
	static const char zeros[1 << 16];
	struct stat st;
	ssize_t n = 1;

	if (dw_audit_store_run(store, DW_AUDIT_SQL_BEGIN, "widen the log", NULL) < 0)
		return;
	if (fstat(store->log_fd, &st) < 0)
		n = 0;
	while (n > 0 && st.st_size < LOG_BYTES_STAYING) {
		n = pwrite(store->log_fd, zeros, sizeof(zeros), st.st_size);
		st.st_size += n;
	}
	(void)fdatasync(store->log_fd);
	(void)dw_audit_store_run(store, DW_AUDIT_SQL_ROLLBACK, "widen the log", NULL);
}

int dw_audit_store_run(struct dw_audit_store *store, enum dw_audit_sql which,
                       const char *doing, struct dw_error *err)
{
	autoreset sqlite3_stmt *stmt = dw_audit_store_stmt(store, which, err);
	int r;

	if (!stmt)
		return -1;
	do
		r = sqlite3_step(stmt);
	while (r == SQLITE_ROW);
	return r == SQLITE_DONE ? 0 : dw_audit_store_fail(store, err, doing);
}

/* Is it ours, and of a version that we know? */
static int check_version(struct dw_audit_store *store, const char *path, bool *ret_new,
                         struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_audit_store_prepare(store, "PRAGMA user_version",
	                                                     err);
	autostmt sqlite3_stmt *tables = NULL;
	int version;

	if (!stmt)
		return -1;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return dw_audit_store_fail(store, err, "read the audit file");
	version = sqlite3_column_int(stmt, 0);
	*ret_new = false;
	if (version == SCHEMA_VERSION)
		return 0;
	if (version > SCHEMA_VERSION)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s is of a later version of dewar", path);

	tables = dw_audit_store_prepare(store, "SELECT 1 FROM sqlite_schema LIMIT 1",
	                                err);
	if (!tables)
		return -1;
	switch (sqlite3_step(tables)) {
	case SQLITE_DONE:
		*ret_new = true;
		return 0;
	case SQLITE_ROW:
		return dw_fail(err, DW_E_INVALID, 0, "%s is no audit file of dewar",
		               path);
	default:
		return dw_audit_store_fail(store, err, "read the audit file");
	}
}

static int open_db(struct dw_audit_store *store, const char *path, int flags,
                   struct dw_error *err)
{
	int r;

	*store = (struct dw_audit_store){.log_fd = -1};
	r = sqlite3_open_v2(path, &store->db,
	                    flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (r != SQLITE_OK) {
		(void)dw_fail(err, DW_E_INTERNAL, 0, "%s",
		              store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(r));
		dw_audit_store_close(store);
		return -1;
	}
	(void)sqlite3_busy_handler(store->db, on_busy, store);
	return 0;
}

/* It is there from when the tables are made, unless somebody else cleaned up. */
static int open_log(struct dw_audit_store *store, const char *path, struct dw_error *err)
{
	char *name = sqlite3_mprintf("%s-wal", path);

	if (name)
		store->log_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		                     0600);
	sqlite3_free(name);
	if (store->log_fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open %s-wal", path);
	return 0;
}

int dw_audit_store_open(struct dw_audit_store *store, const char *path, bool stays,
                        bool *ret_new, struct dw_error *err)
{
	if (open_db(store, path, SQLITE_OPEN_READWRITE, err) < 0)
		return -1;
	/* Who comes last would else move the log into the file, and wait for the disk. */
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	(void)sqlite3_wal_autocheckpoint(store->db,
	                                 stays ? LOG_PAGES_STAYING : LOG_PAGES);
	if (check_version(store, path, ret_new, err) < 0 ||
	    dw_audit_store_exec(store, "PRAGMA synchronous = NORMAL", err) < 0 ||
	    (!*ret_new && open_log(store, path, err) < 0)) {
		dw_audit_store_close(store);
		return -1;
	}
	return 0;
}

/* Is there a log with records that are not in the file yet? */
static bool has_log(const char *path)
{
	char *name = sqlite3_mprintf("%s-wal", path);
	struct stat st;
	bool has = !name || (stat(name, &st) == 0 && st.st_size > 0);

	sqlite3_free(name);
	return has;
}

/*
 * SQLite makes files beside the one that it reads. Where it cannot, as on a medium
 * that is read-only, nobody writes either, and the file alone will do.
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
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "open %s", path);
	r = open_db(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
	sqlite3_free(uri);
	return r < 0 ? -1 : check_version(store, path, &empty, err);
}

int dw_audit_store_open_reader(struct dw_audit_store *store, const char *path,
                               struct dw_error *err)
{
	bool empty = false;
	int r, code;

	if (access(path, R_OK) < 0)
		return dw_fail(err, errno == ENOENT ? DW_E_NOT_FOUND : DW_E_INTERNAL,
		               errno, "read the audit file %s", path);
	if (open_db(store, path, SQLITE_OPEN_READONLY, err) < 0)
		return -1;
	r = check_version(store, path, &empty, err);
	code = sqlite3_errcode(store->db) & 0xff;
	if (r < 0 && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY))
		r = reopen_alone(store, path, err);
	/* Damaged, but ours to read for as far as that goes. */
	if (r < 0 && store->db && (sqlite3_errcode(store->db) & 0xff) == SQLITE_CORRUPT)
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
	bool empty = false;

	/* Somebody else may have been here while we waited for the lock. */
	if (check_version(store, "the audit file", &empty, err) < 0)
		return -1;
	if (!empty)
		return open_log(store, path, err);
	if (dw_audit_store_exec(store, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE",
	                        err) < 0)
		return -1;
	if (dw_audit_store_exec(store, schema, err) < 0 ||
	    dw_audit_store_exec(store, "COMMIT", err) < 0) {
		(void)dw_audit_store_exec(store, "ROLLBACK", NULL);
		return -1;
	}
	return open_log(store, path, err);
}

void dw_audit_store_close(struct dw_audit_store *store)
{
	for (size_t i = 0; i < DW_AUDIT_SQL_COUNT; i++)
		(void)sqlite3_finalize(store->stmts[i]);
	(void)sqlite3_close(store->db);
	dw_cleanup_close(&store->log_fd);
	*store = (struct dw_audit_store){.log_fd = -1};
}

int dw_audit_store_head(struct dw_audit_store *store, int64_t *ret_seq,
                        char ret_hash[DW_AUDIT_HASH_MAX], struct dw_error *err)
{
	autoreset sqlite3_stmt *stmt = dw_audit_store_stmt(store, DW_AUDIT_SQL_HEAD, err);
	const char *hash;

	if (!stmt)
		return -1;
	switch (sqlite3_step(stmt)) {
	case SQLITE_DONE:
		*ret_seq = 0;
		memcpy(ret_hash, dw_audit_genesis, DW_AUDIT_HASH_MAX);
		return 0;
	case SQLITE_ROW:
		hash = (const char *)sqlite3_column_text(stmt, 1);
		if (!hash || strlen(hash) != DW_AUDIT_HASH_MAX - 1)
			return dw_fail(err, DW_E_INTERNAL, 0,
			               "the last record of the audit file has no hash: see "
			               "`dewar audit verify`");
		*ret_seq = sqlite3_column_int64(stmt, 0);
		memcpy(ret_hash, hash, DW_AUDIT_HASH_MAX);
		return 0;
	default:
		return dw_audit_store_fail(store, err, "read the last record");
	}
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
			/* NULL data binds as NULL. The caller keeps it until we are done. */
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
		(void)dw_audit_store_fail(store, err, "write an audit record");
	/* Texts may be gone when the statement is used again. */
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
