/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_GATE_H
#define DW_RUN_GATE_H

#include <stdbool.h>

#include "dewar/request.h"
#include "dewar/result.h"
#include "policy/decide.h"
#include "policy/policy.h"

/*
 * What every front door passes a request through before it is recorded and run:
 *
 *	the policy of now (its file is followed)
 *	its decision, a pure function
 *	the operator's own check, if the policy has one and the run was not denied
 *	a person's approval, if the run was to be asked about
 *	what follows from it, put into the request
 *
 * The gate knows nothing of audit, queues or HTTP. One gate serves any number of
 * threads; a passage belongs to one.
 *
 *	dw_gate_pass(gate, &question, &passage, &err)
 *	record the intent with passage.decided and passage.rule
 *	passage.state is OPEN:   dw_gate_apply(), run, dw_gate_remark() on the result
 *	                 SHUT:   dw_gate_refusal() is the result; record it
 *	                 WAITING: as the approver has it
 *	dw_permission_finish(&passage), once nobody uses the request any more
 */
struct dw_gate;

enum dw_gate_state {
	DW_GATE_OPEN = 0, /* it may run */
	DW_GATE_SHUT,     /* it may not; reason and hint say why */
	DW_GATE_WAITING,  /* somebody is asked; only an approver makes this */
	DW_GATE_STATE_COUNT
};

/* Start from {0}. */
struct dw_permission {
	enum dw_gate_state state;
	struct dw_decision decision; /* the policy's */

	/* For the record: "allow", "raise", "deny" or "ask", and who said so. */
	const char *decided;
	char rule[DW_DECISION_TEXT_MAX];
	char said[DW_DECISION_TEXT_MAX]; /* by the operator's own check, or "" */

	/* Of a run that may not: policy, approval_denied, approval_expired, ... */
	enum dw_reason reason;
	char hint[DW_DECISION_TEXT_MAX * 2];

	void *approval; /* the approver's own, whose forget() frees it */
	const struct dw_gate *gate;
};

/*
 * Who asks people. It turns a passage that is SHUT (reason unavailable) into OPEN, into
 * SHUT with another reason and hint, or into WAITING. May block if the question's door
 * does. -1: it failed; the run is then refused.
 */
struct dw_gate_approver {
	void *user;
	int (*ask)(void *user, const struct dw_policy_question *question,
	           struct dw_permission *passage, struct dw_error *err);
	void (*forget)(void *user, struct dw_permission *passage); /* or NULL */
};

/*
 * The operator's own check: allow, deny (state SHUT, reason policy, hint) or ask
 * (*ret_verdict). -1: it failed, and the run is refused: it fails closed.
 */
struct dw_gate_checker {
	void *user;
	int (*check)(void *user, const struct dw_policy_hook *hook,
	             const struct dw_policy_question *question,
	             const struct dw_permission *passage, enum dw_verdict *ret_verdict,
	             char ret_why[DW_DECISION_TEXT_MAX], struct dw_error *err);
};

/* The policy by its name, as dw_policy_load() has it (NULL: the host's, or open). */
int dw_gate_open(const char *policy, struct dw_gate **ret, struct dw_error *err);
void dw_gate_close(struct dw_gate *gate); /* accepts NULL */

/* Before the first passage. Without them, asking and checking refuse. */
void dw_gate_set_approver(struct dw_gate *gate, const struct dw_gate_approver *approver);
void dw_gate_set_checker(struct dw_gate *gate, const struct dw_gate_checker *checker);

/* Look at the policy's file now: 1 if it is a new one, 0 if not, -1 if it makes no sense. */
int dw_gate_look(struct dw_gate *gate, struct dw_error *err);

/* The policy of now: a reference, never NULL. */
struct dw_policy *dw_gate_policy(struct dw_gate *gate);

/*
 * If the policy's file has come to make no sense since it was last asked, why: for a
 * log. DW_OK otherwise. The policy before goes on holding.
 */
void dw_gate_problem(struct dw_gate *gate, struct dw_error *ret);

/*
 * Where does the request stand? 0: see *ret. -1 only if it makes no sense, or we
 * failed. The question's limits may be NULL: they are then filled in as the engine
 * would.
 */
int dw_gate_pass(struct dw_gate *gate, const struct dw_policy_question *question,
                 struct dw_permission *ret, struct dw_error *err);

/*
 * Let go of lists that are the policy's alone and that no cell of this request could
 * hold: there the analysis alone holds the code to them.
 */
void dw_gate_trim(struct dw_decision *decision, const struct dw_request *req);

/*
 * Put into the request what was decided: the raised level, the lists it is held to. It
 * refers to the passage from here on.
 */
void dw_gate_apply(const struct dw_permission *passage, struct dw_request *req);

/* The result of a run that may not be: ok is false, and no program was started. */
struct dw_result *dw_gate_refusal(const struct dw_permission *passage,
                                  const struct dw_request *req);

/* Tell what was found in the result's warnings and findings; raised levels as well. */
void dw_gate_remark(const struct dw_permission *passage, struct dw_result *res);

void dw_permission_finish(struct dw_permission *passage);

#endif
