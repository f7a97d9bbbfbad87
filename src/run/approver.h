/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_APPROVER_H
#define DW_RUN_APPROVER_H

#include "approvals/approvals.h"
#include "run/permission.h"

/*
 * Asks approvers about a run whose permission is ASK, through the approvals and the
 * policy's webhook:
 *
 *	dw_approver_ask()      the permission is WAITING, or GRANTED or REFUSED at once
 *	dw_approver_answer()   reads the answer: GRANTED, REFUSED, WAITING or ASK again
 *	dw_approver_spend()    right before the intent of the run is recorded
 *
 * Any number of threads may use one approver.
 */
struct dw_approver;

struct dw_approver_config {
	/* Called when a person is to be asked. Borrowed; NULL if it failed. */
	struct dw_approvals *(*approvals)(void *user, struct dw_error *err);
	void (*on_webhook_error)(void *user, const char *text); /* or NULL */
	void *user;
};

int dw_approver_create(const struct dw_approver_config *config, struct dw_approver **ret,
                       struct dw_error *err);

/* May wait for a webhook call in progress. Accepts NULL. */
void dw_approver_free(struct dw_approver *approver);

/* The question's request is the one that would run, with its limits filled in. */
int dw_approver_ask(struct dw_approver *approver,
                    const struct dw_policy_question *question,
                    struct dw_permission *permission, struct dw_error *err);

/*
 * The state becomes ASK again if another run has used the approval. Returns -1 if the
 * approvals cannot be read.
 */
int dw_approver_answer(struct dw_approver *approver, struct dw_permission *permission,
                       struct dw_error *err);

/*
 * Spend the approval of a GRANTED permission, if it has one, on the question's request.
 * Returns 0 with the state in the permission, which may have become REFUSED, or ASK if
 * another run used the approval first; -1 if it failed, and nothing may run.
 */
int dw_approver_spend(struct dw_approver *approver,
                      const struct dw_policy_question *question,
                      struct dw_permission *permission, struct dw_error *err);

/*
 * Called when the run cannot start: if it has spent an approval, let another run use that
 * approval. If this fails, *err says so, too.
 */
void dw_approver_give_back(struct dw_approver *approver,
                           const struct dw_permission *permission, const char *run,
                           struct dw_error *err);

/*
 * ---- approval_message.c: JSON messages to hooks; free() them; NULL without memory ----
 */

/* A webhook gets an excerpt; the approver reads all of the code before deciding. */
#define DW_APPROVAL_EXCERPT_MAX 1000

/*
 * For the webhook: {"event": "approval.pending", "approval": {...}}, the approval as in
 * dw_approval_to_json(), with an excerpt instead of its request and findings.
 */
char *dw_pending_message(const struct dw_approval *approval);

/*
 * prose: allow names of keys.
 * For the operator's own check: {"version": 1, "run", "who", "door", "decision", "rule",
 * "level", "findings", "request"}, the request as in the audit record.
 */
char *dw_check_message(const struct dw_policy_question *question,
                       const struct dw_permission *permission);

#endif
