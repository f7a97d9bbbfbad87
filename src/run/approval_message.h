/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_APPROVAL_MESSAGE_H
#define DW_RUN_APPROVAL_MESSAGE_H

#include "approvals/approvals.h"
#include "run/permission.h"

/* What programs outside are told, as JSON. free() it; NULL without memory. */

/* More of a program is not in a webhook's letter; who decides looks at all of it. */
#define DW_APPROVAL_EXCERPT_MAX 1000

/*
 * For the webhook: {"event": "approval.pending", "approval": {...}}, where the approval
 * is as everywhere, but for its request and findings, and with an excerpt.
 */
char *dw_pending_message(const struct dw_approval *approval);

/* The beginning of what is to run; free() it, NULL without memory. */
char *dw_approval_excerpt(const struct dw_approval *approval);

/*
 * For the operator's own check: {"version": 1, "run", "who", "door", "decision", "rule",
 * "level", "findings", "request"}, the request as the audit record has it.
 */
char *dw_check_message(const struct dw_policy_question *question,
                       const struct dw_permission *permission);

#endif
