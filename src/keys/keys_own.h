/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_KEYS_KEYS_OWN_H
#define DW_KEYS_KEYS_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sqlite.h"
#include "keys/keys.h"

/* The SQLite file with the keys. Used by one thread at a time. */

#define DW_KEYS_HASH_LEN 32

struct dw_keys_row {
	struct dw_key key;
	uint8_t hash[DW_KEYS_HASH_LEN]; /* SHA-256 of its secret in base64url */
};

/* As dw_keys_open(), or without make as dw_keys_open_existing(). Closed on failure. */
int dw_keys_store_open(struct dw_sqlite *store, const char *path, bool make,
                       struct dw_error *err);
/* Read all keys; the caller frees *ret. An invalid row is an error. */
int dw_keys_store_load(struct dw_sqlite *store, struct dw_keys_row **ret, size_t *ret_n,
                       struct dw_error *err);

/* Returns 1, or 0 if the id is already used, or -1. */
int dw_keys_store_insert(struct dw_sqlite *store, const struct dw_keys_row *row,
                         struct dw_error *err);

int dw_keys_store_revoke(struct dw_sqlite *store, const char *id, int64_t now_us,
                         struct dw_error *err);

#endif
