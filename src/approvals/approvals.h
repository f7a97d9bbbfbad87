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
 * What waits for a human, in STATE/approvals.db, for its owner alone.
 *
 *	ask ──> pending ──> approved ──> used
 *	           │            └──────> expired (nobody used it in time)
 *	           ├──────> denied
 *	           └──────> expired
 *
 * The way of a run that policy says to ask about:
 *
 *	dw_approvals_ask()     a question, or an answer at once if one is remembered
 *	dw_approvals_wait()    until it is no longer pending
 *	dw_approvals_use()     right before the run: spends the approval
 *
 * Any number of threads may use one struct dw_approvals, and any number of processes
 * one file: the daemon, and `dewar approve`. A decision is one transaction, and on
 * disk once it was told. Times are the wall clock's, so that they outlive a restart.
 *
 * People are who records say they are: "uid:1000 (alice)", "key:1f2e3d4c (ci)". Only
 * what is in front of the blank is compared; the rest is for reading.
 */
struct dw_approvals;

#define DW_APPROVALS_FILE "approvals.db"
#define DW_APPROVAL_HASH_MAX 65 /* SHA-256 in hex */

/* More than that nobody reads before they say yes. */
#define DW_APPROVALS_REQUEST_MAX ((size_t)1 << 20)
#define DW_APPROVALS_FINDINGS_MAX ((size_t)64 << 10)
#define DW_APPROVALS_TEXT_MAX 1024 /* of each other text; longer ones are cut */

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

/* What else of the same caller's a yes is for. */
enum dw_remember {
	DW_REMEMBER_NO = 0,
	DW_REMEMBER_CODE,    /* this exact request, until it is forgotten */
	DW_REMEMBER_SESSION, /* what this rule asks about in this session: a day at most */
	DW_REMEMBER_RULE,    /* whatever this rule asks about, until it is forgotten */
	DW_REMEMBER_COUNT
};

/* "no", "code", "session", "rule" */
const char *dw_remember_name(enum dw_remember kind);
int dw_remember_parse(const char *name, enum dw_remember *ret, struct dw_error *err);

/* 0 is the default, in brackets. */
struct dw_approvals_config {
	unsigned pending_max;            /* questions open at a time (500) ... */
	unsigned pending_max_per_caller; /* ... and of one caller (20) */
	uint64_t expires_ms;             /* an answer is wanted by then (10 minutes) */
	uint64_t use_ms; /* a yes is to be used in that time after it (1 hour) */
};

/* Texts are borrowed. What is NULL is not known, or does not apply. */
struct dw_asking {
	const char *run;      /* the id of the run that waits */
	const char *who;      /* asks; must be there */
	const char *door;     /* "cli", "http", "mcp" */
	const char *session;  /* the caller's; NULL: for as long as *this* is open */
	const char *rule;     /* of the policy, by name; must be there */
	const char *reason;   /* why it asks */
	const char *findings; /* of the analysis, a JSON array */
	const struct dw_request *req; /* as it would run: after raising, with its limits */
	uint64_t expires_ms;          /* from now; 0: as configured */
	bool allow_self;              /* policy lets the caller approve it */
};

/* A question and its answer. All texts are its own, and never NULL. */
struct dw_approval {
	char id[DW_ID_MAX];
	enum dw_approval_state state;
	bool allow_self;
	char run[DW_ID_MAX];
	char hash[DW_APPROVAL_HASH_MAX]; /* of the request, see digest.h */
	char *who;
	char *door;
	char *session;
	char *rule;
	char *reason;
	char *findings; /* a JSON array */
	char *request;  /* JSON, as the audit record has it */
	int64_t asked_us;
	int64_t expires_us; /* of a pending one; once it is approved, until when to use it */
	int64_t decided_us; /* 0: not yet */
	char *decided_by;
	char *note;
	enum dw_remember remember;
	char memory[DW_ID_MAX]; /* the remembered yes that answered it, or "" */
	int64_t used_us;
	char used_by[DW_ID_MAX]; /* the run that it was used for */
};

void dw_approval_finish(struct dw_approval *approval);

/* Is it a question of theirs? For who may only see their own. */
bool dw_approval_is_of(const struct dw_approval *approval, const char *who);

/*
 * For --json, HTTP and webhooks: all of it, times as text, request and findings as
 * JSON; what is not there is null. NULL without memory.
 */
json_t *dw_approval_to_json(const struct dw_approval *approval);

/*
 * One line for whoever comes too late or waited: "denied by uid:0 (root) at
 * 2026-01-02T03:04:05.000000Z: not on a Friday".
 */
#define DW_APPROVAL_LINE_MAX 1500
void dw_approval_line(const struct dw_approval *approval, char ret[DW_APPROVAL_LINE_MAX]);

/*
 * Where the file is if nobody says otherwise: in the daemon's folder, for the CLI too,
 * so that each user has one queue. Or in place, a folder or the file itself.
 */
#define DW_APPROVALS_PATH_MAX 4200
int dw_approvals_path(const char *place, char ret[DW_APPROVALS_PATH_MAX],
                      struct dw_error *err);

/*
 * Make the file and its folder if need be, with mode 0600 and 0700. A file that is
 * not ours alone, or whose folder others can write to, is DW_E_DENIED.
 */
int dw_approvals_open(const char *path, const struct dw_approvals_config *config,
                      struct dw_approvals **ret, struct dw_error *err);

/* The same, but a file that is not there is DW_E_NOT_FOUND. */
int dw_approvals_open_existing(const char *path, const struct dw_approvals_config *config,
                               struct dw_approvals **ret, struct dw_error *err);

void dw_approvals_close(struct dw_approvals *a); /* accepts NULL; nobody may wait */

/*
 * Ask. The same caller with the same request under the same rule gets the question
 * that is open already, or the approval that it has not used yet: whoever was cut off
 * may come again. *ret_new says whether a human has something new to look at.
 * DW_E_BUSY if too many are open; DW_E_INVALID if it is too large for a human.
 */
int dw_approvals_ask(struct dw_approvals *a, const struct dw_asking *question,
                     struct dw_approval *ret, bool *ret_new, struct dw_error *err);

/*
 * Wait until it is no longer pending, until the deadline (of dw_now_ms(); UINT64_MAX:
 * none), or until cancel_fd, if not -1, is readable. 0, and *ret as it is then: still
 * pending if it was one of the latter two.
 */
int dw_approvals_wait(struct dw_approvals *a, const char *id, uint64_t deadline_ms,
                      int cancel_fd, struct dw_approval *ret, struct dw_error *err);

/*
 * For whoever waits for many at once, in a loop of its own. The first tells whether
 * anything may have changed since *seen, which it keeps (start from UINT64_MAX): 1 or
 * 0; it is cheap. The second has the state of one, and nothing else of it.
 */
int dw_approvals_changed(struct dw_approvals *a, uint64_t *seen, struct dw_error *err);
int dw_approvals_state(struct dw_approvals *a, const char *id,
                       enum dw_approval_state *ret, struct dw_error *err);

/*
 * Spend the approval on this run. 0: it may begin, and nobody else's may on the same.
 * DW_E_BUSY: it was spent on another run, ask anew. DW_E_DENIED: it is not approved (any
 * more), or not for this caller, or not for this very request.
 */
int dw_approvals_use(struct dw_approvals *a, const char *id, const char *who,
                     const char *run, const struct dw_request *req, struct dw_error *err);

struct dw_ruling {
	bool yes;
	const char *who;  /* decides */
	const char *note; /* or NULL */
	enum dw_remember remember;
	bool allow_self; /* also where the question does not */
};

/*
 * Decide; the id may be a prefix that only one has. 0: so it is decided. 1: it was
 * already, by somebody else or by time, and *ret (see dw_approval_line()) says how:
 * nothing has changed. DW_E_DENIED: nobody approves what they asked for themselves;
 * they may say no to it, though. A yes that is remembered answers what else is pending
 * and covered by it.
 */
int dw_approvals_decide(struct dw_approvals *a, const char *id,
                        const struct dw_ruling *decision, struct dw_approval *ret,
                        struct dw_error *err);

/* By its id, or a prefix of it that only one has: DW_E_NOT_FOUND, DW_E_INVALID. */
int dw_approvals_get(struct dw_approvals *a, const char *id, struct dw_approval *ret,
                     struct dw_error *err);

/* Those that are pending, or all that are kept, oldest first, until fn returns other
 * than 0. It may not call us. */
typedef int dw_approval_fn(void *user, const struct dw_approval *approval);
int dw_approvals_each(struct dw_approvals *a, bool all, dw_approval_fn *fn, void *user,
                      struct dw_error *err);

/* A yes that is remembered. Texts are lent. */
struct dw_memory {
	char id[DW_ID_MAX];
	enum dw_remember kind;
	char hash[DW_APPROVAL_HASH_MAX]; /* kind code, else "" */
	const char *who;                 /* may run it */
	const char *session;             /* kind session, else "" */
	const char *rule;
	const char *decided_by;
	const char *note;
	int64_t decided_us;
	int64_t expires_us; /* 0: never */
};

json_t *dw_memory_to_json(const struct dw_memory *memory);

typedef int dw_memory_fn(void *user, const struct dw_memory *memory);
int dw_approvals_memories(struct dw_approvals *a, dw_memory_fn *fn, void *user,
                          struct dw_error *err);

/* Forget one, by its id or a prefix: what is not running yet is asked about again. */
int dw_approvals_forget(struct dw_approvals *a, const char *id, struct dw_error *err);

#endif
