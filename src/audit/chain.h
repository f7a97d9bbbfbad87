/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_CHAIN_H
#define DW_AUDIT_CHAIN_H

#include "audit/audit.h"
#include "audit/store.h"

/*
 * What is done to the chain, each inside a transaction of the caller's.
 */

/* Its end, which the next record refers to. */
struct dw_audit_tail {
	int64_t seq;
	char hash[DW_AUDIT_HASH_MAX];
};

int dw_audit_chain_tail(struct dw_audit_store *store, struct dw_audit_tail *ret,
                        struct dw_error *err);

/* Give the record its number, time and hashes, write it, and move the tail. */
int dw_audit_chain_append(struct dw_audit_store *store, struct dw_audit_tail *tail,
                          struct dw_audit_record *rec, struct dw_error *err);

/* The run has an intent: it is open, and this owner's. */
int dw_audit_chain_open(struct dw_audit_store *store,
                        const struct dw_audit_record *intent, int64_t owner,
                        struct dw_error *err);

/* It has an end; an error if it was not open. */
int dw_audit_chain_close(struct dw_audit_store *store, struct dw_audit_text run,
                         struct dw_error *err);

/* Append an `interrupted` for each open run whose owner, not us, is gone. */
int dw_audit_chain_recover(struct dw_audit_store *store, struct dw_audit_tail *tail,
                           int locks_fd, int64_t us, size_t *ret_n, struct dw_error *err);

/* Append a checkpoint, and remove what it speaks of. */
int dw_audit_chain_retain(struct dw_audit_store *store, struct dw_audit_tail *tail,
                          const struct dw_audit_keep *keep, size_t *ret_removed,
                          struct dw_error *err);

#endif
