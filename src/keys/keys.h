/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_KEYS_KEYS_H
#define DW_KEYS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"
#include "dewar/request.h"

/* ---- grant.c ---- */

/* What a key may do. */
enum dw_scope {
	DW_SCOPE_RUN = 1U << 0,     /* run code, and see and cancel its own runs */
	DW_SCOPE_ADMIN = 1U << 1,   /* read metrics, see and cancel all runs */
	DW_SCOPE_AUDIT = 1U << 2,   /* read the audit record */
	DW_SCOPE_APPROVE = 1U << 3, /* decide approvals */
};

#define DW_SCOPE_ALL (DW_SCOPE_RUN | DW_SCOPE_ADMIN | DW_SCOPE_AUDIT | DW_SCOPE_APPROVE)

/* The names of the scopes, indexed by the number of the bit; ends in NULL. */
extern const char *const dw_scope_words[];

/* Parse the name of a scope: run, admin, audit or approve. */
int dw_scope_parse(const char *name, unsigned *ret, struct dw_error *err);

/* The names of several scopes: "run,audit". */
#define DW_SCOPES_TEXT_MAX 32
void dw_scopes_text(unsigned scopes, char ret[DW_SCOPES_TEXT_MAX]);

struct dw_grant {
	unsigned scopes;     /* bits of enum dw_scope */
	unsigned concurrent; /* runs at a time; here and below 0 means no limit */
	unsigned runs_per_minute;
	uint64_t cpu_s_per_day; /* from midnight UTC */
	char levels[64];        /* "container,docker"; "": all that the daemon allows */
	struct dw_limits max;   /* the most that a request may ask for */
};

/* ---- keys.c ---- */

/*
 * API keys, in STATE/keys.db, which only the daemon's user can read. The file contains
 * only the hash of a key's secret. The text of a key, "dewar_" id "_" secret, is shown
 * once, when the key is created.
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
	int64_t revoked_us; /* 0: not revoked */
	struct dw_grant grant;
};

/*
 * Create the file and its folder if necessary, with mode 0600 and 0700. DW_E_DENIED if
 * other users can access the file or write to its folder.
 */
int dw_keys_open(const char *path, struct dw_keys **ret, struct dw_error *err);

/* The same, but DW_E_NOT_FOUND if the file does not exist. */
int dw_keys_open_existing(const char *path, struct dw_keys **ret, struct dw_error *err);

void dw_keys_close(struct dw_keys *keys); /* accepts NULL */

/*
 * Create a key with the name and grant in key; sets its id and time. text receives the
 * only copy of the key's text. The key is on disk when this returns.
 */
int dw_keys_add(struct dw_keys *keys, struct dw_key *key, char text[DW_KEY_TEXT_MAX],
                struct dw_error *err);

/*
 * Revoke a key, on disk when this returns. DW_E_NOT_FOUND if there is no such key. A key
 * may be revoked again.
 */
int dw_keys_revoke(struct dw_keys *keys, const char *id, struct dw_error *err);

/*
 * Call fn for each key, in the order of their creation, until it returns other than 0.
 * fn must not call functions of this header.
 */
typedef int dw_key_fn(void *user, const struct dw_key *key);
int dw_keys_each(struct dw_keys *keys, dw_key_fn *fn, void *user, struct dw_error *err);

/*
 * Returns true if a key was ever created, or if the file cannot be read. Then every client
 * needs a key: revoking the last one must not admit clients without a key.
 */
bool dw_keys_any(struct dw_keys *keys);

/*
 * Look up the key with this text. Returns false if there is no such key, if it was revoked,
 * or if the file cannot be read. A wrong key takes the same time as a right one, whatever
 * part of it is wrong. Any thread may call this. Changes by other processes take effect
 * at once.
 */
bool dw_keys_check(struct dw_keys *keys, const char *text, struct dw_key *ret);

#endif
