/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/keys.h"

#include <errno.h>
#include <nettle/base64.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "keys/keys_own.h"

/*
 * All keys are cached in memory. Each lookup first checks whether another process has
 * changed the file (PRAGMA data_version, about 4 us) or replaced it, and if so reads it
 * again. So a revoked key is refused at once.
 */
struct dw_keys {
	char *path;
	pthread_mutex_t lock; /* protects all below */
	struct dw_sqlite store;
	struct dw_keys_row *rows; /* sorted by id */
	size_t n_rows;
	int64_t version; /* of the file when rows were read */
	bool stale; /* rows must be read again: not read yet, or we changed the file */

	/*
	 * The row to compare with if there is no such key, so that the check takes the
	 * same time. Its hash is random, so no key matches it.
	 */
	struct dw_keys_row missing;
};

#define SECRET_BYTES 32
#define ID_TRIES 8

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct dw_keys_row *)a)->key.id,
	              ((const struct dw_keys_row *)b)->key.id);
}

static int by_time(const void *a, const void *b)
{
	const struct dw_keys_row *const *x = a, *const *y = b;
	int64_t s = (*x)->key.created_us, t = (*y)->key.created_us;

	return s == t ? by_id(*x, *y) : s < t ? -1 : 1;
}

/* Read the keys again if the file has changed. The caller holds the lock. */
static int refresh(struct dw_keys *keys, struct dw_error *err)
{
	struct dw_keys_row *rows = NULL;
	int64_t version;
	size_t n = 0;

	/* An operator may have removed the file, or restored a backup. */
	if (dw_sqlite_replaced(&keys->store, keys->path)) {
		keys->stale = true;
		dw_sqlite_close(&keys->store);
		if (dw_keys_store_open(&keys->store, keys->path, false, err) < 0)
			return -1;
	}
	if (dw_sqlite_version(&keys->store, &version, err) < 0)
		return -1;
	if (!keys->stale && version == keys->version)
		return 0;

	/* A change after this point gives the file a version that differs from ours. */
	if (dw_keys_store_load(&keys->store, &rows, &n, err) < 0)
		return -1;
	if (n > 1)
		qsort(rows, n, sizeof(*rows), by_id);
	free(keys->rows);
	keys->rows = rows;
	keys->n_rows = n;
	keys->version = version;
	keys->stale = false;
	return 0;
}

static struct dw_keys_row *find(const struct dw_keys *keys, const char *id)
{
	struct dw_keys_row like = {0};

	if (strlen(id) >= sizeof(like.key.id) || keys->n_rows == 0)
		return NULL;
	(void)snprintf(like.key.id, sizeof(like.key.id), "%s", id);
	return bsearch(&like, keys->rows, keys->n_rows, sizeof(*keys->rows), by_id);
}

static int fill_random(void *data, size_t len, struct dw_error *err)
{
	int r = dw_random(data, len);

	return r < 0 ? dw_fail(err, DW_E_INTERNAL, -r, "cannot get random bytes") : 0;
}

static int open_keys(const char *path, bool make, struct dw_keys **ret,
                     struct dw_error *err)
{
	struct dw_keys *keys = calloc(1, sizeof(*keys));
	int r;

	if (!keys)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot open %s", path);
	(void)pthread_mutex_init(&keys->lock, NULL);
	keys->stale = true;
	keys->path = strdup(path);
	if (!keys->path) {
		dw_keys_close(keys);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot open %s", path);
	}
	r = fill_random(keys->missing.hash, sizeof(keys->missing.hash), err);
	if (r == 0)
		r = dw_keys_store_open(&keys->store, path, make, err);
	if (r == 0)
		r = refresh(keys, err);
	if (r < 0) {
		dw_keys_close(keys);
		return -1;
	}
	*ret = keys;
	return 0;
}

int dw_keys_open(const char *path, struct dw_keys **ret, struct dw_error *err)
{
	return open_keys(path, true, ret, err);
}

int dw_keys_open_existing(const char *path, struct dw_keys **ret, struct dw_error *err)
{
	return open_keys(path, false, ret, err);
}

void dw_keys_close(struct dw_keys *keys)
{
	if (!keys)
		return;
	dw_sqlite_close(&keys->store);
	(void)pthread_mutex_destroy(&keys->lock);
	free(keys->rows);
	free(keys->path);
	free(keys);
}

/* The name appears in audit records, logs and lists. */
static int check_name(const char *name, struct dw_error *err)
{
	size_t len = strnlen(name, DW_KEY_NAME_MAX);

	if (len == 0 || len == DW_KEY_NAME_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "a key's name must have 1 to %d bytes, not \"%.80s\"",
		               DW_KEY_NAME_MAX - 1, len == 0 ? "" : name);
	if (!dw_utf8_valid(name, len))
		return dw_fail(err, DW_E_INVALID, 0, "a key's name must be UTF-8");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return dw_fail(err, DW_E_INVALID, 0,
			               "a key's name must not contain control characters");
	return 0;
}

static int check_new(const struct dw_key *key, struct dw_error *err)
{
	if (check_name(key->name, err) < 0)
		return -1;
	if (key->grant.scopes == 0 || (key->grant.scopes & ~(unsigned)DW_SCOPE_ALL) != 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "a key must have at least one scope");
	if (strnlen(key->grant.levels, sizeof(key->grant.levels)) ==
	    sizeof(key->grant.levels))
		return dw_fail(err, DW_E_INVALID, 0,
		               "a key's list of levels is too long");
	return 0;
}

/* RFC 4648, section 5, without padding: URLs and headers need not escape the result. */
static void encode(const uint8_t bytes[SECRET_BYTES], char ret[DW_KEY_SECRET_LEN + 1])
{
	char padded[BASE64_ENCODE_LENGTH(SECRET_BYTES) + BASE64_ENCODE_FINAL_LENGTH];
	struct base64_encode_ctx ctx;
	size_t n;

	base64url_encode_init(&ctx);
	n = base64_encode_update(&ctx, padded, SECRET_BYTES, bytes);
	(void)base64_encode_final(&ctx, padded + n);
	memcpy(ret, padded, DW_KEY_SECRET_LEN);
	ret[DW_KEY_SECRET_LEN] = '\0';
}
_Static_assert((SECRET_BYTES * 8 + 5) / 6 == DW_KEY_SECRET_LEN,
               "all of them, rounded up");

static void hash_secret(const char secret[DW_KEY_SECRET_LEN],
                        uint8_t ret[DW_KEYS_HASH_LEN])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, DW_KEY_SECRET_LEN, (const uint8_t *)secret);
	sha256_digest(&ctx, DW_KEYS_HASH_LEN, ret);
}
_Static_assert(DW_KEYS_HASH_LEN == SHA256_DIGEST_SIZE, "it is SHA-256");

static int make_id(char ret[DW_KEY_ID_MAX], struct dw_error *err)
{
	uint32_t number;

	if (fill_random(&number, sizeof(number), err) < 0)
		return -1;
	(void)snprintf(ret, DW_KEY_ID_MAX, "%08x", number);
	return 0;
}

int dw_keys_add(struct dw_keys *keys, struct dw_key *key, char text[DW_KEY_TEXT_MAX],
                struct dw_error *err)
{
	struct dw_keys_row row = {.key = *key};
	char secret[DW_KEY_SECRET_LEN + 1];
	uint8_t bytes[SECRET_BYTES];
	int r = 0;

	if (check_new(key, err) < 0 || fill_random(bytes, sizeof(bytes), err) < 0)
		return -1;
	encode(bytes, secret);
	hash_secret(secret, row.hash);
	row.key.created_us = dw_wall_us();
	row.key.revoked_us = 0;

	(void)pthread_mutex_lock(&keys->lock);
	r = refresh(keys, err);
	/* Ids are short, and must not be used twice: try again if the id is in use. */
	for (int i = 0; i < ID_TRIES && r == 0; i++) {
		r = make_id(row.key.id, err);
		if (r == 0)
			r = dw_keys_store_insert(&keys->store, &row, err);
	}
	if (r == 0)
		r = dw_fail(err, DW_E_INTERNAL, 0,
		            "cannot find an unused id for the key");
	keys->stale = true;
	(void)pthread_mutex_unlock(&keys->lock);

	if (r > 0) {
		*key = row.key;
		(void)snprintf(text, DW_KEY_TEXT_MAX, "dewar_%s_%s", key->id, secret);
	}
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(secret, sizeof(secret));
	return r > 0 ? 0 : -1;
}

int dw_keys_revoke(struct dw_keys *keys, const char *id, struct dw_error *err)
{
	int r;

	(void)pthread_mutex_lock(&keys->lock);
	r = refresh(keys, err);
	if (r == 0)
		r = dw_keys_store_revoke(&keys->store, id, dw_wall_us(), err);
	keys->stale = true;
	(void)pthread_mutex_unlock(&keys->lock);
	return r;
}

int dw_keys_each(struct dw_keys *keys, dw_key_fn *fn, void *user, struct dw_error *err)
{
	const struct dw_keys_row **order = NULL;
	int r;

	(void)pthread_mutex_lock(&keys->lock);
	r = refresh(keys, err);
	if (r == 0 && keys->n_rows > 0) {
		order = calloc(keys->n_rows, sizeof(const struct dw_keys_row *));
		if (!order)
			r = dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot list the keys");
	}
	if (order) {
		for (size_t i = 0; i < keys->n_rows; i++)
			order[i] = &keys->rows[i];
		qsort(order, keys->n_rows, sizeof(const struct dw_keys_row *), by_time);
		for (size_t i = 0; i < keys->n_rows; i++)
			if (fn(user, &order[i]->key) != 0)
				break;
	}
	(void)pthread_mutex_unlock(&keys->lock);
	free(order);
	return r;
}

bool dw_keys_any(struct dw_keys *keys)
{
	bool any;

	(void)pthread_mutex_lock(&keys->lock);
	any = refresh(keys, NULL) < 0 || keys->n_rows > 0;
	(void)pthread_mutex_unlock(&keys->lock);
	return any;
}

/*
 * Split a key into its parts. Returns false if the text does not have the form of a key;
 * the parts are then set to dummies, so that the comparison takes the same time.
 */
static bool split(const char *text, char id[DW_KEY_ID_MAX],
                  char secret[DW_KEY_SECRET_LEN])
{
	bool good = strnlen(text, DW_KEY_TEXT_MAX) == DW_KEY_TEXT_MAX - 1 &&
	            strncmp(text, "dewar_", 6) == 0 && text[14] == '_';

	memset(id, 0, DW_KEY_ID_MAX);
	memset(secret, 'A', DW_KEY_SECRET_LEN);
	if (good) {
		memcpy(id, text + 6, DW_KEY_ID_MAX - 1);
		memcpy(secret, text + 15, DW_KEY_SECRET_LEN);
	}
	return good;
}

bool dw_keys_check(struct dw_keys *keys, const char *text, struct dw_key *ret)
{
	char id[DW_KEY_ID_MAX], secret[DW_KEY_SECRET_LEN];
	const struct dw_keys_row *row = NULL;
	uint8_t hash[DW_KEYS_HASH_LEN];
	bool good = split(text, id, secret);

	hash_secret(secret, hash);
	(void)pthread_mutex_lock(&keys->lock);
	if (refresh(keys, NULL) == 0)
		row = find(keys, id);
	if (!row || row->key.revoked_us != 0) {
		row = &keys->missing;
		good = false;
	}
	good = memeql_sec(hash, row->hash, sizeof(hash)) != 0 && good;
	if (good)
		*ret = row->key;
	(void)pthread_mutex_unlock(&keys->lock);
	explicit_bzero(secret, sizeof(secret));
	return good;
}
