/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_CONDUCT_H
#define DW_RUN_CONDUCT_H

#include "audit/audit.h"
#include "run/approver.h"
#include "run/permission.h"

/*
 * The one outer sequence of a run. Every front door calls dw_conduct(), and no other
 * code knows this order:
 *
 *	check      refuse an invalid request
 *	policy     allow, deny or ask; then the operator's own check
 *	approval   ask a person, wait for the answer, and spend the approval
 *	intent     written to disk; if that fails, give the approval back and stop
 *	run        the front door's execute()
 *	outcome    recorded with the same decision and rule as the intent
 *	answer     sent by the front door after dw_conduct() has returned
 *
 * The approval is spent before the intent: if two runs wait for one approval, only one
 * gets it, and the record must not say that the other was approved.
 */
struct dw_conductor;

struct dw_conductor_config {
	const char *policy;     /* as for dw_policy_load(); NULL: the host's, or open */
	struct dw_audit *audit; /* NULL: nothing is recorded */
	struct dw_approver_config approver;
};

/* The strings are copied, the audit is borrowed. */
int dw_conductor_create(const struct dw_conductor_config *config,
                        struct dw_conductor **ret, struct dw_error *err);

/* Accepts NULL. No run may be in progress. */
void dw_conductor_free(struct dw_conductor *conductor);

/*
 * Use another policy for all later runs; with the name of the current policy, read its
 * file again. Returns -1 if the policy is not valid; the current one then stays.
 */
int dw_conductor_set_policy(struct dw_conductor *conductor, const char *policy,
                            struct dw_error *err);

/*
 * Returns a reference to the current policy, never NULL. If its file has become invalid
 * since the last call with ret_problem, *ret_problem says why; its code is DW_OK
 * otherwise.
 */
struct dw_policy *dw_conductor_policy(struct dw_conductor *conductor,
                                      struct dw_error *ret_problem);

/* The step at which a run without a result has stopped. */
enum dw_conduct_step {
	DW_CONDUCT_PERMISSION = 0, /* check, policy, approval */
	DW_CONDUCT_INTENT,         /* the audit record could not be written */
	DW_CONDUCT_RUN,
	DW_CONDUCT_STEP_COUNT
};

/* One run. The front door sets the first part, the rest starts from {0}. */
struct dw_conduct {
	const char *door;               /* "cli", "http", "mcp" */
	const char *who;                /* "uid:1000 (alice)", "key:1f2e3d4c (ci)" */
	const struct dw_request *asked; /* borrowed; its id must be set */

	/*
	 * Returns 0 if run->req, the request as the policy changed it, may run here; else
	 * -1. Called before a person is asked (asking is true), and again before the
	 * intent. May complete run->req. NULL: every request may run.
	 */
	int (*admit)(struct dw_conduct *run, bool asking, struct dw_error *err);

	/* Run run->req, cold or warm. */
	int (*execute)(struct dw_conduct *run, struct dw_result **ret,
	               struct dw_error *err);
	void *user; /* for admit and execute */

	struct dw_request req; /* what runs: *asked, as the decision changes it */
	struct dw_permission permission;
	bool decided;  /* permission is set */
	bool intended; /* the intent is on record, so the outcome must be */

	/* The result belongs to the front door. If it is NULL, step and error say why. */
	struct dw_result *res;
	enum dw_conduct_step step;
	struct dw_error error;
	struct dw_error unrecorded;     /* why the outcome is not on record, or DW_OK */
	uint64_t intent_ns, outcome_ns; /* spent on the record */
};

/*
 * Take a run through the sequence. Returns true if the run has ended; false if it waits
 * for a person (run->permission.approval) and is not on record: call again once the
 * approval is decided, or not at all if the front door does not wait any longer.
 */
bool dw_conduct(struct dw_conductor *conductor, struct dw_conduct *run);

/* Free the permission, which run->req refers to. Does not free res. */
void dw_conduct_finish(struct dw_conduct *run);

#endif
