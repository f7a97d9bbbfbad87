/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/state.h"

/* "Dwke", for file(1) and for us. */
#define APPLICATION_ID 1148676965
#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
#define SCHEMA_VERSION 1

/* How long we wait for others that write. */
#define BUSY_MAX_MS 10000

/* As many keys as are read; each is some 300 bytes. */
#define KEYS_MAX 100000

static const char schema[] =
	"CREATE TABLE key ("
	"id TEXT PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL,"
	"created_us INTEGER NOT NULL, revoked_us INTEGER NOT NULL,"
	"scopes INTEGER NOT NULL, levels TEXT NOT NULL,"
	"concurrent INTEGER NOT NULL, runs_per_minute INTEGER NOT NULL,"
	"cpu_s_per_day INTEGER NOT NULL, timeout_ms INTEGER NOT NULL,"
	"memory_bytes INTEGER NOT NULL, cpu_percent INTEGER NOT NULL,"
	"output_bytes INTEGER NOT NULL, tmp_bytes INTEGER NOT NULL,"
	"pids INTEGER NOT NULL, files INTEGER NOT NULL"
	") STRICT;"
	"PRAGMA application_id = " STRING(APPLICATION_ID) ";"
							  "PRAGMA user_version = 1;";
_Static_assert(SCHEMA_VERSION == 1, "the last line of the schema says so");

#define COLUMNS                                                                   \
	"id, name, hash, levels, created_us, revoked_us, scopes, concurrent, "    \
	"runs_per_minute, cpu_s_per_day, timeout_ms, memory_bytes, cpu_percent, " \
	"output_bytes, tmp_bytes, pids, files"

/* Of the columns, those that are numbers come last. */
enum {
	COLUMN_ID = 0,
	COLUMN_NAME,
	COLUMN_HASH,
	COLUMN_LEVELS,
	COLUMN_NUMBERS
};

/* The numbers, in their columns' order. */
static const struct {
	size_t at; /* in struct dw_key */
	size_t size;
	uint64_t max;
} numbers[] = {
#define NUMBER(member, most)                                                           \
	{                                                                              \
		offsetof(struct dw_key, member), sizeof(((struct dw_key *)0)->member), \
			most                                                           \
	}
	NUMBER(created_us, INT64_MAX),
	NUMBER(revoked_us, INT64_MAX),
	NUMBER(grant.scopes, DW_SCOPE_ALL),
	NUMBER(grant.concurrent, UINT_MAX),
	NUMBER(grant.runs_per_minute, UINT_MAX),
	NUMBER(grant.cpu_s_per_day, INT64_MAX),
	NUMBER(grant.max.timeout_ms, INT64_MAX),
	NUMBER(grant.max.memory_bytes, INT64_MAX),
	NUMBER(grant.max.cpu_percent, INT64_MAX),
	NUMBER(grant.max.output_bytes, INT64_MAX),
	NUMBER(grant.max.tmp_bytes, INT64_MAX),
	NUMBER(grant.max.pids, INT64_MAX),
	NUMBER(grant.max.files, INT64_MAX),
};

static inline void cleanup_stmt(sqlite3_stmt **stmt)
{
	(void)sqlite3_finalize(*stmt);
}
#define autostmt __attribute__((cleanup(cleanup_stmt)))

static int fail(struct dw_keys_store *store, struct dw_error *err, const char *doing)
{
	int code = sqlite3_errcode(store->db) & 0xff;

	return dw_fail(err, code == SQLITE_BUSY ? DW_E_BUSY : DW_E_INTERNAL, 0, "%s: %s",
	               doing, sqlite3_errmsg(store->db));
}

static int exec(struct dw_keys_store *store, const char *sql, struct dw_error *err)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return fail(store, err, "set up the file of keys");
	return 0;
}

static sqlite3_stmt *prepare(struct dw_keys_store *store, const char *sql,
                             struct dw_error *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		(void)fail(store, err, "read the file of keys");
	return stmt;
}

/* A number that a statement with one row gives. */
static int ask(struct dw_keys_store *store, const char *sql, int64_t *ret,
               struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = prepare(store, sql, err);

	if (!stmt)
		return -1;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return fail(store, err, "read the file of keys");
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
static int check_folder(const char *path, struct dw_error *err)
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
		               "others can write to %s, and so replace the keys: make its "
		               "mode 0700",
		               folder);
	return 0;
}

/*
 * The file is never opened here: closing it would take away, without a word, the
 * locks that SQLite holds on it for another part of this process.
 */
static int make_place(struct dw_keys_store *store, const char *path, bool make,
                      struct dw_error *err)
{
	struct stat st;
	int r = lstat(path, &st);

	if (r < 0 && errno == ENOENT && make) {
		r = dw_state_make_folders(path, 0700);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r, "make the folder of %s",
			               path);
		if (check_folder(path, err) < 0)
			return -1;
		if (mknod(path, S_IFREG | 0600, 0) < 0 && errno != EEXIST)
			return dw_fail(err, DW_E_INTERNAL, errno, "make %s", path);
		r = lstat(path, &st);
	}
	if (r < 0)
		return dw_fail(err, errno == ENOENT ? DW_E_NOT_FOUND : DW_E_INTERNAL,
		               errno, "open the keys in %s", path);
	if (!S_ISREG(st.st_mode))
		return dw_fail(err, DW_E_DENIED, 0, "%s is not a file", path);
	if (check_owner(&st, path, err) < 0)
		return -1;
	if ((st.st_mode & 077) != 0)
		return dw_fail(err, DW_E_DENIED, 0,
		               "others can read or write %s: make its mode 0600", path);
	store->dev = st.st_dev;
	store->ino = st.st_ino;
	return check_folder(path, err);
}

/* Make the table, or see that it is one that we know. In a transaction. */
static int make_table(struct dw_keys_store *store, const char *path, struct dw_error *err)
{
	int64_t version = 0, things = 0, id = 0;

	if (ask(store, "PRAGMA user_version", &version, err) < 0 ||
	    ask(store, "SELECT count(*) FROM sqlite_schema", &things, err) < 0)
		return -1;
	if (version == 0 && things == 0)
		return exec(store, schema, err);
	if (version > SCHEMA_VERSION)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s is of a later version of dewar", path);
	if (ask(store, "PRAGMA application_id", &id, err) < 0)
		return -1;
	if (version != SCHEMA_VERSION || id != APPLICATION_ID)
		return dw_fail(err, DW_E_INVALID, 0, "%s holds no keys of dewar", path);
	return 0;
}

static int open_store(struct dw_keys_store *store, const char *path, bool make,
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
		return dw_fail(err, DW_E_INTERNAL, 0, "open the keys in %s: %s", path,
		               sqlite3_errstr(r));
	(void)sqlite3_busy_timeout(store->db, BUSY_MAX_MS);

	/* A key that was revoked must not come back with the power. */
	if (exec(store, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE", err) < 0)
		return dw_wrap(err, "%s", path);
	r = make_table(store, path, err);
	if (exec(store, r == 0 ? "COMMIT" : "ROLLBACK", r == 0 ? err : NULL) < 0)
		r = -1;
	if (r < 0)
		return -1;

	/* Reading is faster with it. If somebody is in our way, it stays as it is. */
	(void)exec(store, "PRAGMA journal_mode = WAL", NULL);
	store->version = prepare(store, "PRAGMA data_version", err);
	return store->version ? 0 : -1;
}

int dw_keys_store_open(struct dw_keys_store *store, const char *path, bool make,
                       struct dw_error *err)
{
	*store = (struct dw_keys_store){0};
	if (open_store(store, path, make, err) == 0)
		return 0;
	dw_keys_store_close(store);
	return -1;
}

void dw_keys_store_close(struct dw_keys_store *store)
{
	(void)sqlite3_finalize(store->version);
	(void)sqlite3_close(store->db);
	*store = (struct dw_keys_store){0};
}

bool dw_keys_store_replaced(const struct dw_keys_store *store, const char *path)
{
	struct stat st;

	return !store->db || lstat(path, &st) < 0 || st.st_dev != store->dev ||
	       st.st_ino != store->ino;
}

int dw_keys_store_version(struct dw_keys_store *store, int64_t *ret, struct dw_error *err)
{
	bool got = sqlite3_step(store->version) == SQLITE_ROW;

	if (got)
		*ret = sqlite3_column_int64(store->version, 0);
	else
		(void)fail(store, err, "read the file of keys");
	(void)sqlite3_reset(store->version);
	return got ? 0 : -1;
}

static bool take_text(sqlite3_stmt *stmt, int column, char *ret, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	size_t len = (size_t)sqlite3_column_bytes(stmt, column);

	if (!text || len >= size || strlen(text) != len)
		return false;
	memcpy(ret, text, len + 1);
	return true;
}

static bool take_number(sqlite3_stmt *stmt, size_t i, struct dw_key *key)
{
	int64_t value = sqlite3_column_int64(stmt, COLUMN_NUMBERS + (int)i);
	char *at = (char *)key + numbers[i].at;

	if (value < 0 || (uint64_t)value > numbers[i].max)
		return false;
	if (numbers[i].size == sizeof(unsigned))
		*(unsigned *)at = (unsigned)value;
	else
		*(uint64_t *)at = (uint64_t)value;
	return true;
}

static bool take_row(sqlite3_stmt *stmt, struct dw_keys_row *ret)
{
	const void *hash = sqlite3_column_blob(stmt, COLUMN_HASH);
	bool good;

	*ret = (struct dw_keys_row){0};
	good = take_text(stmt, COLUMN_ID, ret->key.id, sizeof(ret->key.id)) &&
	       strlen(ret->key.id) == DW_KEY_ID_MAX - 1 &&
	       take_text(stmt, COLUMN_NAME, ret->key.name, sizeof(ret->key.name)) &&
	       take_text(stmt, COLUMN_LEVELS, ret->key.grant.levels,
	                 sizeof(ret->key.grant.levels)) &&
	       hash && sqlite3_column_bytes(stmt, COLUMN_HASH) == DW_KEYS_HASH_LEN;
	for (size_t i = 0; good && i < ARRAY_SIZE(numbers); i++)
		good = take_number(stmt, i, &ret->key);
	if (good)
		memcpy(ret->hash, hash, DW_KEYS_HASH_LEN);
	return good;
}

int dw_keys_store_load(struct dw_keys_store *store, struct dw_keys_row **ret,
                       size_t *ret_n, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = prepare(store, "SELECT " COLUMNS " FROM key", err);
	autofree struct dw_keys_row *rows = NULL;
	struct dw_keys_row *more;
	size_t n = 0, room = 0;
	int r;

	if (!stmt)
		return -1;
	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (n == KEYS_MAX)
			return dw_fail(err, DW_E_BUSY, 0, "there are more than %d keys",
			               KEYS_MAX);
		if (n == room) {
			room = room ? 2 * room : 16;
			more = reallocarray(rows, room, sizeof(*rows));
			if (!more)
				return dw_fail(err, DW_E_INTERNAL, ENOMEM,
				               "read the file of keys");
			rows = more;
		}
		if (!take_row(stmt, &rows[n]))
			return dw_fail(err, DW_E_INTERNAL, 0,
			               "the key %.16s in the file of keys is damaged",
			               (const char *)sqlite3_column_text(stmt,
			                                                 COLUMN_ID));
		n++;
	}
	if (r != SQLITE_DONE)
		return fail(store, err, "read the file of keys");
	*ret = TAKE_PTR(rows);
	*ret_n = n;
	return 0;
}

static uint64_t number_of(const struct dw_key *key, size_t i)
{
	const char *at = (const char *)key + numbers[i].at;

	return numbers[i].size == sizeof(unsigned) ? *(const unsigned *)at
	                                           : *(const uint64_t *)at;
}

int dw_keys_store_insert(struct dw_keys_store *store, const struct dw_keys_row *row,
                         struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt =
		prepare(store,
	                "INSERT INTO key (" COLUMNS
	                ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	                err);
	int r;

	if (!stmt)
		return -1;
	(void)sqlite3_bind_text(stmt, COLUMN_ID + 1, row->key.id, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(stmt, COLUMN_NAME + 1, row->key.name, -1, SQLITE_STATIC);
	(void)sqlite3_bind_blob(stmt, COLUMN_HASH + 1, row->hash, DW_KEYS_HASH_LEN,
	                        SQLITE_STATIC);
	(void)sqlite3_bind_text(stmt, COLUMN_LEVELS + 1, row->key.grant.levels, -1,
	                        SQLITE_STATIC);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t value = number_of(&row->key, i);

		if (value > numbers[i].max)
			return dw_fail(err, DW_E_INVALID, 0,
			               "a limit of the key's is larger than any host");
		(void)sqlite3_bind_int64(stmt, COLUMN_NUMBERS + (int)i + 1,
		                         (int64_t)value);
	}
	r = sqlite3_step(stmt);
	if (r == SQLITE_CONSTRAINT_PRIMARYKEY)
		return 0;
	return r == SQLITE_DONE ? 1 : fail(store, err, "write down the key");
}

int dw_keys_store_revoke(struct dw_keys_store *store, const char *id, int64_t now_us,
                         struct dw_error *err)
{
	/* The time of the first one stays. */
	autostmt sqlite3_stmt *stmt = prepare(
		store,
		"UPDATE key SET revoked_us = CASE revoked_us WHEN 0 THEN ? ELSE revoked_us "
		"END WHERE id = ?",
		err);

	if (!stmt)
		return -1;
	(void)sqlite3_bind_int64(stmt, 1, now_us);
	(void)sqlite3_bind_text(stmt, 2, id, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) != SQLITE_DONE)
		return fail(store, err, "revoke the key");
	if (sqlite3_changes(store->db) == 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "there is no key %.64s", id);
	return 0;
}
