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
 * is kept: its text is shown once, when it is made.
 */
struct dw_keys;

#define DW_KEY_TEXT_MAX 80
#define DW_KEY_ID_MAX 17
#define DW_KEY_NAME_MAX 64

struct dw_key {
	char id[DW_KEY_ID_MAX];
	char name[DW_KEY_NAME_MAX];
	int64_t created_us;
	int64_t revoked_us; /* 0: it is good */
	struct dw_grant grant;
};

int dw_keys_open(const char *path, struct dw_keys **ret, struct dw_error *err);
void dw_keys_close(struct dw_keys *keys);

/* Make one; its text, which is nowhere else, goes into text. Id and time are made. */
int dw_keys_add(struct dw_keys *keys, struct dw_key *key, char text[DW_KEY_TEXT_MAX],
                struct dw_error *err);

/* DW_E_NOT_FOUND if there is none of that id. */
int dw_keys_revoke(struct dw_keys *keys, const char *id, struct dw_error *err);

typedef int dw_key_fn(void *user, const struct dw_key *key);
int dw_keys_each(struct dw_keys *keys, dw_key_fn *fn, void *user, struct dw_error *err);

/* Is there one that is good? Then nobody comes in without. */
bool dw_keys_any(struct dw_keys *keys);

/*
 * The key with this text. False if there is none, or it was revoked; takes as long
 * for a wrong one as for a right one, whatever part of it is wrong. From any
 * number of threads. What another process added or revoked counts at once.
 */
bool dw_keys_check(struct dw_keys *keys, const char *text, struct dw_key *ret);

#endif
