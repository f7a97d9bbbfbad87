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
 * Who ran what, when, behind which walls, and how it ended: records in one file,
 * each with the hash of the one before. No record, no run: a front door calls
 * dw_audit_intent() before the run, and runs only if that went well.
 *
 * A struct dw_audit may be used by several threads at once, and several
 * processes may have one file open.
 */
struct dw_audit;

/* A commit of ends alone waits for the disk too, and not only one with an intent. */
#define DW_AUDIT_SYNC_ENDS (1U << 0)

/* It stays open for many runs, as a daemon's does. */
#define DW_AUDIT_STAYS (1U << 1)

#define DW_AUDIT_PATH_MAX 4096

/* $XDG_STATE_HOME/dewar/audit.db, or below ~/.local/state. */
int dw_audit_default_path(char ret[DW_AUDIT_PATH_MAX], struct dw_error *err);

/*
 * Open the file to write to, and make it and its folder if need be, for their
 * owner alone. Runs of processes that are gone get their `interrupted` with the
 * first record that is written, or by dw_audit_recover().
 */
int dw_audit_open(const char *path, unsigned flags, struct dw_audit **ret,
                  struct dw_error *err);

/* Nothing is lost by it: what was said to be written is. Accepts NULL. */
void dw_audit_close(struct dw_audit *audit);

/* What is known of a run besides its request. */
struct dw_audit_run {
	const char *id;       /* the request's */
	const char *who;      /* "uid:1000 (alice)" or "key:..." */
	const char *decision; /* a policy's: "allow", "deny", ...; or NULL */
	const char *rule;     /* ... and which of its rules said so; or NULL */
};

/*
 * That somebody wants this run. It is on disk when this returns 0; many threads
 * that call it at once share one wait for the disk.
 */
int dw_audit_intent(struct dw_audit *audit, const struct dw_audit_run *run,
                    const struct dw_request *req, struct dw_error *err);

/*
 * How it ended: res, or if dw_run() gave none, why. It is in the file when this
 * returns 0, and on disk with the next intent; should the host go down before
 * that, the run counts as interrupted.
 */
int dw_audit_outcome(struct dw_audit *audit, const struct dw_audit_run *run,
                     const struct dw_result *res, const struct dw_error *why,
                     struct dw_error *err);

/* Mark the runs of processes that are gone; how many there were, if asked. */
int dw_audit_recover(struct dw_audit *audit, size_t *ret_n, struct dw_error *err);

/* What to keep; 0 is no limit. */
struct dw_audit_keep {
	int64_t since_us; /* records from then on */
	uint64_t bytes;   /* that the records take up in the file */
};

/*
 * Remove the oldest records that need not be kept, up to the first of a run that
 * goes on. A `checkpoint` in the chain says up to which one, so that what is left
 * can be verified. The file does not shrink: its room is used again.
 */
int dw_audit_retain(struct dw_audit *audit, const struct dw_audit_keep *keep,
                    size_t *ret_removed, struct dw_error *err);

/*
 * Reading. Nothing in the file changes by it, and it may be written meanwhile.
 */
struct dw_audit_reader;

int dw_audit_reader_open(const char *path, struct dw_audit_reader **ret,
                         struct dw_error *err);
void dw_audit_reader_close(struct dw_audit_reader *reader);

/* Which records or runs are wanted; all if {0}. */
struct dw_audit_filter {
	int64_t since_us; /* from then on, if not 0 */
	int64_t until_us; /* before then, if not 0 */
	const char *id;   /* of a run, or how it begins */
	const char *status;
	uint64_t limit; /* the newest so many, if not 0 */
};

/* A status besides those of results, of runs that have no outcome. */
#define DW_AUDIT_RUNNING "running"
#define DW_AUDIT_INTERRUPTED "interrupted"

/*
 * Called for each; what it gets lives until it returns. Not 0: enough, and the
 * call that it was given to returns that.
 */
typedef int dw_audit_record_fn(void *user, const struct dw_audit_record *rec);

/* Every record in order; the filter's status is that of outcomes. */
int dw_audit_each_record(struct dw_audit_reader *reader,
                         const struct dw_audit_filter *filter, dw_audit_record_fn *fn,
                         void *user, struct dw_error *err);

/* A run: its intent, and its outcome or `interrupted` if it has one. */
struct dw_audit_entry {
	const struct dw_audit_record *intent;
	const struct dw_audit_record *end; /* or NULL */
	const char *status;                /* NUL-terminated, never NULL */
};

typedef int dw_audit_entry_fn(void *user, const struct dw_audit_entry *entry);

/* Every run, the newest first. */
int dw_audit_each_run(struct dw_audit_reader *reader,
                      const struct dw_audit_filter *filter, dw_audit_entry_fn *fn,
                      void *user, struct dw_error *err);

enum dw_audit_fault {
	DW_AUDIT_SOUND = 0,
	DW_AUDIT_CHANGED,      /* it is not what its hash says */
	DW_AUDIT_MISSING,      /* it is not there */
	DW_AUDIT_OUT_OF_ORDER, /* it is another one, that stood elsewhere */
	DW_AUDIT_UNLINKED,     /* it does not follow the one before */
	DW_AUDIT_DAMAGED,      /* the file cannot be read from there on */
	DW_AUDIT_FAULT_COUNT
};

/* "sound", "changed", "missing", "out_of_order", "unlinked", "damaged" */
const char *dw_audit_fault_name(enum dw_audit_fault fault);

struct dw_audit_verdict {
	enum dw_audit_fault fault;
	int64_t seq;      /* the first record with a fault */
	char text[256];   /* what is wrong with it, for a person */
	uint64_t records; /* that are sound, before it */
	uint64_t open;    /* intents without an end */
	int64_t first_seq, head_seq;
	char head_hash[DW_AUDIT_HASH_MAX];
};

/* A record that somebody wrote down elsewhere: it must still be there. */
struct dw_audit_anchor {
	int64_t seq;
	const char *hash;
};

/*
 * Walk the chain. 0: *ret says how it is, also if it is not sound. The anchor may
 * be NULL.
 */
int dw_audit_verify(struct dw_audit_reader *reader, const struct dw_audit_anchor *anchor,
                    struct dw_audit_verdict *ret, struct dw_error *err);

#endif
