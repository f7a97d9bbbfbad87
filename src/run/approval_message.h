/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_APPROVAL_MESSAGE_H
#define DW_RUN_APPROVAL_MESSAGE_H

#include "approvals/approvals.h"
#include "run/permission.h"

/* Messages to hooks, as JSON. free() them; NULL without memory. */

/* A webhook gets an excerpt; the approver reads all of the code before deciding. */
#define DW_APPROVAL_EXCERPT_MAX 1000

/*
 * For the webhook: {"event": "approval.pending", "approval": {...}}, the approval as in
 * dw_approval_to_json(), with an excerpt instead of its request and findings.
 */
char *dw_pending_message(const struct dw_approval *approval);

/* The beginning of the code; free() it, NULL without memory. */
char *dw_approval_excerpt(const struct dw_approval *approval);

/*
 * prose: allow names of keys.
 * For the operator's own check: {"version": 1, "run", "who", "door", "decision", "rule",
 * "level", "findings", "request"}, the request as in the audit record.
 */
char *dw_check_message(const struct dw_policy_question *question,
                       const struct dw_permission *permission);

#endif
