/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_AUDIT_H
#define DW_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/record.h"
#include "dewar/request.h"
#include "dewar/result.h"

/*
 * The audit record: for each run its caller, request, walls and outcome, in one file of
 * records, each with the hash of the record before it. No record, no run: the caller
 * calls dw_audit_intent() before the run, and starts it only on success.
 *
 * Several threads may use one struct dw_audit, and several processes one file.
 */
struct dw_audit;

/* Wait for the disk after outcomes too, and not only after intents. */
#define DW_AUDIT_SYNC_ENDS (1U << 0)

/* The file stays open for many runs, as in a daemon. */
#define DW_AUDIT_STAYS (1U << 1)

#define DW_AUDIT_PATH_MAX 4096

/* $XDG_STATE_HOME/dewar/audit.db, or below ~/.local/state. */
int dw_audit_default_path(char ret[DW_AUDIT_PATH_MAX], struct dw_error *err);

/*
 * Open the file for writing. Create it and its folder if they are missing, with mode
 * 0600 and 0700. The first record written, or dw_audit_recover(), also marks the open
 * runs of ended processes as `interrupted`.
 */
int dw_audit_open(const char *path, unsigned flags, struct dw_audit **ret,
                  struct dw_error *err);

/* Accepts NULL. All records that were accepted are in the file. */
void dw_audit_close(struct dw_audit *audit);

/* A run in its records, apart from the request. */
struct dw_audit_run {
	const char *id;       /* of the request */
	const char *who;      /* "uid:1000 (alice)" or "key:..." */
	const char *decision; /* of the policy: "allow", "deny", ...; or NULL */
	const char *rule;     /* of the policy that decided; or NULL */
};

/*
 * Record that a run is about to start. The record is on disk when this returns 0;
 * threads that call it at the same time share one wait for the disk.
 */
int dw_audit_intent(struct dw_audit *audit, const struct dw_audit_run *run,
                    const struct dw_request *req, struct dw_error *err);

/*
 * Record how a run ended: res, or why if dw_run() returned no result. The record is in
 * the file when this returns 0, and on disk with the next intent; if the host goes down
 * before that, the run counts as interrupted.
 */
int dw_audit_outcome(struct dw_audit *audit, const struct dw_audit_run *run,
                     const struct dw_result *res, const struct dw_error *why,
                     struct dw_error *err);

/*
 * Mark the open runs of ended processes as `interrupted`. *ret_n is set to their number;
 * ret_n may be NULL.
 */
int dw_audit_recover(struct dw_audit *audit, size_t *ret_n, struct dw_error *err);

/* Which records to keep; 0 means no limit. */
struct dw_audit_keep {
	int64_t since_us; /* the oldest time */
	uint64_t bytes;   /* the size of all records */
};

/*
 * Remove the oldest records that need not be kept, and stop before the intent of the
 * oldest run that has not ended. A `checkpoint` in the chain names the last removed
 * record, so that the rest can be verified. The file does not shrink: SQLite reuses the
 * space.
 */
int dw_audit_retain(struct dw_audit *audit, const struct dw_audit_keep *keep,
                    size_t *ret_removed, struct dw_error *err);

/* Reading changes nothing in the file. Other processes may write meanwhile. */
struct dw_audit_reader;

int dw_audit_reader_open(const char *path, struct dw_audit_reader **ret,
                         struct dw_error *err);
void dw_audit_reader_close(struct dw_audit_reader *reader);

/* Selects records or runs; {0} selects all. */
struct dw_audit_filter {
	int64_t since_us; /* at or after this time, if not 0 */
	int64_t until_us; /* before this time, if not 0 */
	const char *id;   /* of a run, or a prefix of it */
	const char *status;
	uint64_t limit; /* only the newest, at most this many, if not 0 */
};

/* The status of a run without an outcome. */
#define DW_AUDIT_RUNNING "running"
#define DW_AUDIT_INTERRUPTED "interrupted"

/* Each status of a run in the record; ends in NULL. */
extern const char *const dw_audit_status_words[];

/*
 * Called for each record; its arguments live until it returns. A value other than 0 ends
 * the walk, which returns it.
 */
typedef int dw_audit_record_fn(void *user, const struct dw_audit_record *rec);

/* Call fn for each record, oldest first; a status in the filter selects outcomes. */
int dw_audit_each_record(struct dw_audit_reader *reader,
                         const struct dw_audit_filter *filter, dw_audit_record_fn *fn,
                         void *user, struct dw_error *err);

/* A run: its intent, and its outcome or `interrupted`, if any. */
struct dw_audit_entry {
	const struct dw_audit_record *intent;
	const struct dw_audit_record *end; /* or NULL */
	const char *status;                /* NUL-terminated, never NULL */
};

typedef int dw_audit_entry_fn(void *user, const struct dw_audit_entry *entry);

/* Call fn for each run, newest first. */
int dw_audit_each_run(struct dw_audit_reader *reader,
                      const struct dw_audit_filter *filter, dw_audit_entry_fn *fn,
                      void *user, struct dw_error *err);

enum dw_audit_fault {
	DW_AUDIT_SOUND = 0,
	DW_AUDIT_CHANGED,      /* the record does not match its hash */
	DW_AUDIT_MISSING,      /* there is no record with this number */
	DW_AUDIT_OUT_OF_ORDER, /* a record was moved to this number */
	DW_AUDIT_UNLINKED,     /* the record does not refer to the one before it */
	DW_AUDIT_DAMAGED,      /* the file cannot be read any further */
	DW_AUDIT_FAULT_COUNT
};

/* "sound", "changed", "missing", "out_of_order", "unlinked", "damaged" */
const char *dw_audit_fault_name(enum dw_audit_fault fault);

struct dw_audit_verdict {
	enum dw_audit_fault fault;
	int64_t seq;      /* the first record with a fault */
	char text[256];   /* describes the fault */
	uint64_t records; /* sound records before it */
	uint64_t open;    /* runs with an intent and without an end */
	int64_t first_seq, head_seq;
	char head_hash[DW_AUDIT_HASH_MAX];
};

/* A record whose hash was noted elsewhere: it must still be in the chain. */
struct dw_audit_anchor {
	int64_t seq;
	const char *hash;
};

/* Verify the chain. 0 with a verdict, sound or not. The anchor may be NULL. */
int dw_audit_verify(struct dw_audit_reader *reader, const struct dw_audit_anchor *anchor,
                    struct dw_audit_verdict *ret, struct dw_error *err);

/* ---- requests as records show them: describe.c ---- */

/* Larger input and files are recorded by size and digest only. */
#define DW_AUDIT_WHOLE_MAX ((size_t)64 << 10)

/*
 * Describe the request as JSON that dw_request_from_json() reads: all of the code, and
 * small input and files. A value that is not UTF-8 becomes an object with its base64; a
 * name that is not becomes "base64:" and its base64. free() it; NULL without memory.
 */
char *dw_audit_describe(const struct dw_request *req);

#endif
