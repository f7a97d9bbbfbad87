/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_PERMISSION_H
#define DW_RUN_PERMISSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "dewar/request.h"
#include "dewar/result.h"
#include "policy/decide.h"
#include "policy/policy.h"

/*
 * Decides whether one run may start: the policy's decision, then the operator's own check
 * if the policy names one. Does not use audit, queues or HTTP, and asks no person;
 * run/approver.h does.
 */
enum dw_permission_state {
	DW_PERMISSION_GRANTED = 0,
	DW_PERMISSION_REFUSED, /* reason and hint say why */
	DW_PERMISSION_ASK,     /* a person must be asked first */
	DW_PERMISSION_WAITING, /* a person was asked and has not answered yet */
	DW_PERMISSION_STATE_COUNT
};

/* Start from {0}. */
struct dw_permission {
	enum dw_permission_state state;
	struct dw_decision decision; /* the policy's */

	/* For the record: "allow", "raise", "deny" or "ask", and the rule. */
	const char *decided;
	char rule[DW_DECISION_TEXT_MAX];
	char check_reason[DW_DECISION_TEXT_MAX]; /* of the operator's own check, or "" */

	/* Why a run is refused: policy, approval_denied, approval_expired, ... */
	enum dw_reason reason;
	char hint[DW_DECISION_TEXT_MAX * 2];

	/* The question to a person; the id is "" if no person was asked. */
	struct {
		char id[DW_ID_MAX];
		int64_t expires_us;
		bool self;                             /* the caller may approve it */
		char granted_by[DW_DECISION_TEXT_MAX]; /* "approved by uid:0 (root), ..." */
	} approval;
};

/*
 * Decide. Returns 0 with the decision in ret->state, which is never WAITING; -1 if the
 * request is invalid or we failed. The question's limits may be NULL: the request's
 * limits and the defaults are then used.
 */
int dw_permission_decide(struct dw_policy *policy,
                         const struct dw_policy_question *question,
                         struct dw_permission *ret, struct dw_error *err);

__attribute__((format(printf, 3, 4))) void dw_permission_refuse(
	struct dw_permission *permission, enum dw_reason reason, const char *fmt, ...);

/*
 * Why a person is asked: the reason of the check or the rule, or what the rule matched.
 */
const char *dw_permission_reason(const struct dw_permission *permission);

/*
 * Drop the policy's own lists that no cell of this request can enforce: only the
 * analysis enforces them then.
 */
void dw_permission_trim(struct dw_decision *decision, const struct dw_request *req);

/*
 * Put the decision into the request: the raised level and the policy's allow-lists. The
 * request then borrows them from the permission.
 */
void dw_permission_apply(const struct dw_permission *permission, struct dw_request *req);

/* The result of a refused run: ok is false, and no program was started. */
struct dw_result *dw_permission_refusal(const struct dw_permission *permission,
                                        const struct dw_request *req);

/* Add findings and a raised level to the result's warnings and findings. */
void dw_permission_report(const struct dw_permission *permission, struct dw_result *res);

void dw_permission_finish(struct dw_permission *permission);

/* ---- explain.c ---- */

/*
 * Explain how a decision is reached, for `dewar policy explain`. The question's limits
 * may be NULL, as for dw_permission_decide().
 */
int dw_permission_explain(struct dw_policy *policy,
                          const struct dw_policy_question *question,
                          struct dw_explanation *ret, struct dw_error *err);

/* As JSON; NULL without memory. */
json_t *dw_explanation_json(const struct dw_explanation *explanation);

#endif
