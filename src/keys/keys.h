/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_KEYS_KEYS_H
#define DW_KEYS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"
#include "keys/grant.h"

/*
 * API keys, in STATE/keys.db, for the daemon's user alone. Of a key only its hash
 * is kept: its text, "dewar_" id "_" secret, is shown once, when it is made.
 */
struct dw_keys;

#define DW_KEYS_FILE "keys.db"

#define DW_KEY_SECRET_LEN 43 /* 32 random bytes as base64url */
#define DW_KEY_ID_MAX 9      /* 8 hex digits */
#define DW_KEY_TEXT_MAX (6 + 8 + 1 + DW_KEY_SECRET_LEN + 1)
#define DW_KEY_NAME_MAX 64

struct dw_key {
	char id[DW_KEY_ID_MAX];
	char name[DW_KEY_NAME_MAX];
	int64_t created_us; /* since 1970 */
	int64_t revoked_us; /* 0: it is good */
	struct dw_grant grant;
};

/*
 * Make the file and its folder if need be, with mode 0600 and 0700. A file that is
 * not ours alone, or whose folder others can write to, is DW_E_DENIED.
 */
int dw_keys_open(const char *path, struct dw_keys **ret, struct dw_error *err);

/* The same, but a file that is not there is DW_E_NOT_FOUND. */
int dw_keys_open_existing(const char *path, struct dw_keys **ret, struct dw_error *err);

void dw_keys_close(struct dw_keys *keys); /* accepts NULL */

/*
 * Make one; its text, which is nowhere else, goes into text. Name and grant are the
 * caller's, id and time are made. On disk once this returns, as below.
 */
int dw_keys_add(struct dw_keys *keys, struct dw_key *key, char text[DW_KEY_TEXT_MAX],
                struct dw_error *err);

/* DW_E_NOT_FOUND if there is no such key. Revoking it again is fine. */
int dw_keys_revoke(struct dw_keys *keys, const char *id, struct dw_error *err);

/*
 * All of them, in the order that they were made, until fn returns other than 0. It
 * may not call us.
 */
typedef int dw_key_fn(void *user, const struct dw_key *key);
int dw_keys_each(struct dw_keys *keys, dw_key_fn *fn, void *user, struct dw_error *err);

/*
 * Returns true if a key was ever made. Then every client needs one: revoking the last must
 * not open the door. True as well if we cannot tell.
 */
bool dw_keys_any(struct dw_keys *keys);

/*
 * The key with this text. Returns false if there is no such key, or it was revoked, or the file
 * cannot be read; takes as long for a wrong one as for a right one, whatever part
 * of it is wrong. From any number of threads. What another process added or revoked
 * counts at once.
 */
bool dw_keys_check(struct dw_keys *keys, const char *text, struct dw_key *ret);

#endif
