/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/keys_own.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "request/limits.h"

/* The most keys in a file; each takes about 300 bytes of memory. */
#define KEYS_MAX 100000

static const char schema[] =
	"CREATE TABLE key ("
	"id TEXT PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL,"
	"created_us INTEGER NOT NULL, revoked_us INTEGER NOT NULL,"
	"scopes INTEGER NOT NULL, levels TEXT NOT NULL,"
	"concurrent INTEGER NOT NULL, runs_per_minute INTEGER NOT NULL,"
	"cpu_s_per_day INTEGER NOT NULL"
#define DW_LIMIT(id, member, ...) ", " #member " INTEGER NOT NULL"
#include "dewar/limits.def"
	") STRICT;";

static const struct dw_sqlite_kind kind = {
	.what = "keys",
	.application_id = 1148676965, /* "Dwke" */
	.version = 1,
	.schema = schema,
	.busy_ms = 10000,
};

/* Each limit has a column with the name of its member. */
static const char select_all[] =
	"SELECT id, name, hash, levels, created_us, revoked_us, scopes, concurrent, "
	"runs_per_minute, cpu_s_per_day"
#define DW_LIMIT(id, member, ...) ", " #member
#include "dewar/limits.def"
	" FROM key";

static const char insert_one[] =
	"INSERT INTO key (id, name, hash, levels, created_us, revoked_us, scopes, "
	"concurrent, runs_per_minute, cpu_s_per_day"
#define DW_LIMIT(id, member, ...) ", " #member
#include "dewar/limits.def"
	") VALUES (?,?,?,?,?,?,?,?,?,?"
#define DW_LIMIT(...) ",?"
#include "dewar/limits.def"
	")";

/* The columns in order: the numbers come last. */
enum {
	COLUMN_ID = 0,
	COLUMN_NAME,
	COLUMN_HASH,
	COLUMN_LEVELS,
	COLUMN_NUMBERS
};

/* The numbers, in the order of their columns. */
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
	NUMBER(created_us, INT64_MAX),           NUMBER(revoked_us, INT64_MAX),
	NUMBER(grant.scopes, DW_SCOPE_ALL),      NUMBER(grant.concurrent, UINT_MAX),
	NUMBER(grant.runs_per_minute, UINT_MAX), NUMBER(grant.cpu_s_per_day, INT64_MAX),
#define DW_LIMIT(id, member, ...) NUMBER(grant.max.member, INT64_MAX),
#include "dewar/limits.def"
};

/* Returns 1 if the table of keys has the column, 0 if it has not, or -1. */
static int has_column(struct dw_sqlite *store, const char *name, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_sqlite_prepare(
		store, "SELECT count(*) FROM pragma_table_info('key') WHERE name = ?",
		err);

	if (!stmt)
		return -1;
	(void)sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return dw_sqlite_fail(store, err, "cannot read the keys file");
	return sqlite3_column_int(stmt, 0) > 0;
}

/* A file from an earlier version lacks newer limits: add them as 0, for no ceiling. */
static int add_missing_columns(struct dw_sqlite *store, struct dw_error *err)
{
	char sql[128];
	int has;

	for (size_t i = 0; i < DW_LIMIT_COUNT; i++) {
		const char *name = dw_limit_rows[i].member;

		has = has_column(store, name, err);
		if (has > 0)
			continue;
		(void)snprintf(sql, sizeof(sql),
		               "ALTER TABLE key ADD COLUMN %s INTEGER NOT NULL DEFAULT 0",
		               name);
		/* Another process may have added the column in the meantime. */
		if (has < 0 || (dw_sqlite_exec(store, sql, err) < 0 &&
		                has_column(store, name, err) <= 0))
			return -1;
	}
	return 0;
}

int dw_keys_store_open(struct dw_sqlite *store, const char *path, bool make,
                       struct dw_error *err)
{
	if (dw_sqlite_open(store, &kind, path, make, err) < 0)
		return -1;
	if (add_missing_columns(store, err) == 0)
		return 0;
	dw_sqlite_close(store);
	return -1;
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

int dw_keys_store_load(struct dw_sqlite *store, struct dw_keys_row **ret, size_t *ret_n,
                       struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_sqlite_prepare(store, select_all, err);
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
				               "cannot read the keys file");
			rows = more;
		}
		if (!take_row(stmt, &rows[n]))
			return dw_fail(err, DW_E_INTERNAL, 0,
			               "the key %.16s in the keys file is damaged",
			               (const char *)sqlite3_column_text(stmt,
			                                                 COLUMN_ID));
		n++;
	}
	if (r != SQLITE_DONE)
		return dw_sqlite_fail(store, err, "cannot read the keys file");
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

int dw_keys_store_insert(struct dw_sqlite *store, const struct dw_keys_row *row,
                         struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt = dw_sqlite_prepare(store, insert_one, err);
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
			               "a limit of the key must be at most %lld",
			               (long long)INT64_MAX);
		(void)sqlite3_bind_int64(stmt, COLUMN_NUMBERS + (int)i + 1,
		                         (int64_t)value);
	}
	r = sqlite3_step(stmt);
	if (r == SQLITE_CONSTRAINT_PRIMARYKEY)
		return 0;
	return r == SQLITE_DONE ? 1 : dw_sqlite_fail(store, err, "cannot write the key");
}

int dw_keys_store_revoke(struct dw_sqlite *store, const char *id, int64_t now_us,
                         struct dw_error *err)
{
	/* Keep the time of the first revocation. */
	autostmt sqlite3_stmt *stmt = dw_sqlite_prepare(
		store,
		"UPDATE key SET revoked_us = CASE revoked_us WHEN 0 THEN ? ELSE revoked_us "
		"END WHERE id = ?",
		err);

	if (!stmt)
		return -1;
	(void)sqlite3_bind_int64(stmt, 1, now_us);
	(void)sqlite3_bind_text(stmt, 2, id, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) != SQLITE_DONE)
		return dw_sqlite_fail(store, err, "cannot revoke the key");
	if (sqlite3_changes(store->db) == 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "there is no key %.64s", id);
	return 0;
}
