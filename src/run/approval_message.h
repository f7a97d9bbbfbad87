/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_APPROVAL_MESSAGE_H
#define DW_RUN_APPROVAL_MESSAGE_H

#include "approvals/approvals.h"
#include "run/permission.h"

/* Messages to external programs, as JSON. free() each; NULL without memory. */

/* A webhook's message contains at most this much of the program; approvers can see all. */
#define DW_APPROVAL_EXCERPT_MAX 1000

/*
 * For the webhook: {"event": "approval.pending", "approval": {...}}, where the approval
 * has the usual form, with an excerpt instead of its request and findings.
 */
char *dw_pending_message(const struct dw_approval *approval);

/* The beginning of the program; free() it. NULL without memory. */
char *dw_approval_excerpt(const struct dw_approval *approval);

/*
 * For the operator's own check, with these keys (prose: allow "who" is a key):
 * {"version": 1, "run", "who", "door", "decision", "rule", "level", "findings",
 * "request"}. The request has the form of the audit record.
 */
char *dw_check_message(const struct dw_policy_question *question,
                       const struct dw_permission *permission);

#endif
