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
 *	check      does the request make sense?
 *	policy     allow, deny or ask; then the operator's own check
 *	approval   ask a person, wait for the answer, and spend the approval
 *	intent     on disk; no record, no run: then the approval is given back
 *	run        the front door's execute()
 *	outcome    in the record, with the same decision and rule as the intent
 *	answer     the front door's, after dw_conduct() returned
 *
 * The approval is spent before the intent, since of two runs that wait for one approval
 * only one gets it, and the record must not say that the other was approved.
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

/* Accepts NULL. No run may be on its way. */
void dw_conductor_free(struct dw_conductor *conductor);

/*
 * Use another policy for the runs to come; the name of the current one reads its file
 * again. -1: it is not valid, and the current one stays.
 */
int dw_conductor_set_policy(struct dw_conductor *conductor, const char *policy,
                            struct dw_error *err);

/*
 * The current policy: a reference, never NULL. If its file has become invalid since the
 * last call with ret_problem, *ret_problem says why; its code is DW_OK otherwise.
 */
struct dw_policy *dw_conductor_policy(struct dw_conductor *conductor,
                                      struct dw_error *ret_problem);

/* Where a run stopped that has no result. */
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
	 * May this request run here, as the policy left it in run->req? Called before a
	 * person is asked (asking is true), and again before the intent. May complete
	 * run->req. NULL: always.
	 */
	int (*admit)(struct dw_conduct *run, bool asking, struct dw_error *err);

	/* Run run->req, cold or warm. */
	int (*execute)(struct dw_conduct *run, struct dw_result **ret,
	               struct dw_error *err);
	void *user; /* for these two */

	struct dw_request req; /* what runs: asked, and what the decision changes */
	struct dw_permission permission;
	bool decided;  /* permission is set */
	bool intended; /* the intent is on record, so the outcome must be */

	/* The result belongs to the front door. NULL: step and error say why. */
	struct dw_result *res;
	enum dw_conduct_step step;
	struct dw_error error;
	struct dw_error unrecorded;     /* why the outcome is not on record, or DW_OK */
	uint64_t intent_ns, outcome_ns; /* spent on the record */
};

/*
 * Take a run through the sequence. True: it ended. False: it waits for a person
 * (run->permission.approval) and is not on record; call again once the approval is
 * decided, or never, if the front door does not wait any longer.
 */
bool dw_conduct(struct dw_conductor *conductor, struct dw_conduct *run);

/* Once the request and the permission are not used any more. Leaves res alone. */
void dw_conduct_finish(struct dw_conduct *run);

#endif
