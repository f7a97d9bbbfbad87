/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_APPROVALS_H
#define DW_APPROVALS_APPROVALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"
#include "dewar/request.h"
#include "dewar/result.h"

/*
 * Runs that wait for a person, in STATE/approvals.db, which only its owner can read.
 *
 *	ask ──> pending ──> approved ──> used
 *	           │            └──────> expired (not used in time)
 *	           ├──────> denied
 *	           └──────> expired
 *
 * The calls for a run that the policy says to ask about:
 *
 *	dw_approvals_ask()     a pending approval, or a remembered one at once
 *	dw_approvals_wait()    until it is no longer pending
 *	dw_approvals_use()     right before the run: uses up the approval
 *	dw_approvals_give_back()  if the run could not start after all
 *
 * Any number of threads may use one struct dw_approvals, and any number of processes one
 * file: the daemon and `dewar approve`. A decision is one transaction, and on disk when
 * the call returns. Times are of the wall clock, so that they survive a restart.
 *
 * Callers and approvers are named as in audit records: "uid:1000 (alice)",
 * "key:1f2e3d4c (ci)". Only the part before the blank is compared.
 */
struct dw_approvals;

#define DW_APPROVALS_FILE "approvals.db"
#define DW_APPROVAL_HASH_MAX 65 /* SHA-256 in hex */

/* A person cannot review a larger request, or more findings. */
#define DW_APPROVALS_REQUEST_MAX ((size_t)1 << 20)
#define DW_APPROVALS_FINDINGS_MAX ((size_t)64 << 10)
/* The longest other string. Longer names and notes are refused, the rest cut. */
#define DW_APPROVALS_TEXT_MAX 1024

enum dw_approval_state {
	DW_APPROVAL_PENDING = 0,
	DW_APPROVAL_APPROVED,
	DW_APPROVAL_DENIED,
	DW_APPROVAL_EXPIRED,
	DW_APPROVAL_USED,
	DW_APPROVAL_STATE_COUNT
};

/* "pending", "approved", "denied", "expired", "used" */
const char *dw_approval_state_name(enum dw_approval_state state);

/* Which later requests of the same caller this decision also approves. */
enum dw_remember {
	DW_REMEMBER_NO = 0,
	DW_REMEMBER_CODE,    /* this exact request, until `forget` */
	DW_REMEMBER_SESSION, /* all under this rule in this session, at most a day */
	DW_REMEMBER_RULE,    /* all under this rule, until `forget` */
	DW_REMEMBER_COUNT
};

/* The words of enum dw_remember from DW_REMEMBER_CODE on; ends in NULL. */
extern const char *const dw_remember_words[];

/* "no", "code", "session", "rule" */
const char *dw_remember_name(enum dw_remember kind);
int dw_remember_parse(const char *name, enum dw_remember *ret, struct dw_error *err);

/* 0 selects the default, in brackets. */
struct dw_approvals_config {
	unsigned pending_max;            /* pending approvals (500) */
	unsigned pending_max_per_caller; /* of one caller (20) */
	uint64_t expires_ms;             /* the time to decide (10 minutes) */
	uint64_t use_ms;                 /* the time to use an approval (1 hour) */
};

/* Strings are borrowed; NULL means unknown or not applicable. */
struct dw_asking {
	const char *run;      /* the id of the run that waits */
	const char *who;      /* the caller; required */
	const char *door;     /* "cli", "http", "mcp" */
	const char *session;  /* of the caller; NULL: ends at dw_approvals_close() */
	const char *rule;     /* name in the policy; required */
	const char *reason;   /* of the rule */
	const char *findings; /* of the analysis, a JSON array */
	const struct dw_request *req; /* as it would run, with its final level and limits */
	uint64_t expires_ms;          /* from now; 0: as configured */
	bool allow_self;              /* the policy lets the caller approve it */
};

/* An approval: a request and its decision. It owns its strings; none is NULL. */
struct dw_approval {
	char id[DW_ID_MAX];
	enum dw_approval_state state;
	bool allow_self;
	char run[DW_ID_MAX];
	char hash[DW_APPROVAL_HASH_MAX]; /* dw_approval_digest() of the request */
	char *who;
	char *door;
	char *session;
	char *rule;
	char *reason;
	char *findings; /* a JSON array */
	char *request;  /* JSON, as in the audit record */
	int64_t asked_us;
	int64_t expires_us; /* the time to decide by; once approved, to use it by */
	int64_t decided_us; /* 0: undecided */
	char *decided_by;
	char *note;
	enum dw_remember remember;
	char memory[DW_ID_MAX]; /* the remembered approval that decided it, or "" */
	int64_t used_us;
	char used_by[DW_ID_MAX]; /* the run that it was used for */
};

/*
 * SHA-256 over all fields of a request that determine what runs and where: any difference
 * gives another hash. It leaves out the id and fields about the waiting caller (callbacks,
 * cancel_fd, yields, memory). Files on the host (workspace, program, image) count by
 * name, and an open stdin_fd only by its presence.
 */
void dw_approval_digest(const struct dw_request *req, char ret[DW_APPROVAL_HASH_MAX]);

void dw_approval_finish(struct dw_approval *approval);

/*
 * The JSON form for --json, HTTP and webhooks: times as strings, request and findings as
 * JSON, absent values as null. Returns NULL if memory runs out.
 */
json_t *dw_approval_to_json(const struct dw_approval *approval);

/*
 * The state in one line: "denied by uid:0 (root) at 2026-01-02T03:04:05.000000Z: not on
 * a Friday".
 */
#define DW_APPROVAL_LINE_MAX 1500
void dw_approval_line(const struct dw_approval *approval, char ret[DW_APPROVAL_LINE_MAX]);

/*
 * Find the path of the file. If place is a regular file, it is that file; otherwise place
 * is the folder of the file. If place is NULL, the folder is the daemon's, for the CLI
 * too, so that each user has one queue.
 */
#define DW_APPROVALS_PATH_MAX 4200
int dw_approvals_path(const char *place, char ret[DW_APPROVALS_PATH_MAX],
                      struct dw_error *err);

/* Open the file, or create it if it is missing; see dw_sqlite_open(). */
int dw_approvals_open(const char *path, const struct dw_approvals_config *config,
                      struct dw_approvals **ret, struct dw_error *err);

/* The same, but a missing file is DW_E_NOT_FOUND. */
int dw_approvals_open_existing(const char *path, const struct dw_approvals_config *config,
                               struct dw_approvals **ret, struct dw_error *err);

/* Accepts NULL. No thread may be in dw_approvals_wait(). */
void dw_approvals_close(struct dw_approvals *a);

/*
 * Request an approval. The same caller with the same request under the same rule gets its
 * pending or unused approval: a caller that was disconnected may repeat the request.
 * *ret_new is set if there is a new approval for a person to decide. DW_E_BUSY if too many
 * are pending; DW_E_INVALID if the request is too large to review.
 */
int dw_approvals_ask(struct dw_approvals *a, const struct dw_asking *asking,
                     struct dw_approval *ret, bool *ret_new, struct dw_error *err);

/*
 * Wait until the approval is no longer pending, until the deadline (on the clock of
 * dw_now_ms(); UINT64_MAX: none), or until cancel_fd, if not -1, is readable. Returns 0
 * with the approval in *ret; in the latter two cases it may still be pending.
 */
int dw_approvals_wait(struct dw_approvals *a, const char *id, uint64_t deadline_ms,
                      int cancel_fd, struct dw_approval *ret, struct dw_error *err);

/*
 * For a loop that waits for many approvals. dw_approvals_changed() is cheap: it returns
 * 1 if an approval may have changed since *seen (start from UINT64_MAX), otherwise 0, and
 * updates *seen. dw_approvals_state() reads the state of one approval.
 */
int dw_approvals_changed(struct dw_approvals *a, uint64_t *seen, struct dw_error *err);
int dw_approvals_state(struct dw_approvals *a, const char *id,
                       enum dw_approval_state *ret, struct dw_error *err);

/*
 * Use up the approval for this run. 0: this run may start, and no other run can use the
 * approval. DW_E_BUSY: another run used it; request a new one. DW_E_DENIED: it is not, or
 * no longer, approved, or it belongs to another caller or another request.
 */
int dw_approvals_use(struct dw_approvals *a, const char *id, const char *who,
                     const char *run, const struct dw_request *req, struct dw_error *err);

/* Make the approval that this run used up, but did not need, usable again. */
int dw_approvals_give_back(struct dw_approvals *a, const char *id, const char *run,
                           struct dw_error *err);

struct dw_ruling {
	bool yes;
	const char *who;  /* the approver */
	const char *note; /* or NULL */
	enum dw_remember remember;
	bool allow_self; /* even if the approval does not */
};

/*
 * Decide an approval; the id may be a unique prefix. 0: decided. 1: it was already
 * decided or expired (see *ret and dw_approval_line()), and nothing changed. DW_E_DENIED:
 * callers may deny but not approve their own request. A remembered approval also approves
 * the pending requests that it covers.
 */
int dw_approvals_decide(struct dw_approvals *a, const char *id,
                        const struct dw_ruling *decision, struct dw_approval *ret,
                        struct dw_error *err);

/* Read an approval by its id or a unique prefix. DW_E_INVALID if several match. */
int dw_approvals_get(struct dw_approvals *a, const char *id, struct dw_approval *ret,
                     struct dw_error *err);

/*
 * Call fn for the pending approvals, or with all for every approval in the file, oldest
 * first, until it returns other than 0. fn must not call dw_approvals_*().
 */
typedef int dw_approval_fn(void *user, const struct dw_approval *approval);
int dw_approvals_each(struct dw_approvals *a, bool all, dw_approval_fn *fn, void *user,
                      struct dw_error *err);

/* A remembered approval. Strings are borrowed. */
struct dw_memory {
	char id[DW_ID_MAX];
	enum dw_remember kind;
	char hash[DW_APPROVAL_HASH_MAX]; /* for kind code, else "" */
	const char *who;                 /* the caller */
	const char *session;             /* for kind session, else "" */
	const char *rule;
	const char *decided_by;
	const char *note;
	int64_t decided_us;
	int64_t expires_us; /* 0: never */
};

json_t *dw_memory_to_json(const struct dw_memory *memory);

/* Call fn for each remembered approval, as dw_approvals_each() does. */
typedef int dw_memory_fn(void *user, const struct dw_memory *memory);
int dw_approvals_memories(struct dw_approvals *a, dw_memory_fn *fn, void *user,
                          struct dw_error *err);

/*
 * Forget a remembered approval, by its id or a unique prefix. Approvals that it gave and
 * that no run has used yet expire.
 */
int dw_approvals_forget(struct dw_approvals *a, const char *id, struct dw_error *err);

#endif
