/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_APPROVER_H
#define DW_RUN_APPROVER_H

#include <stdbool.h>
#include <stdint.h>

#include "approvals/approvals.h"
#include "run/gate.h"

/*
 * Who stands behind a gate: people, who are asked through the approvals and called by
 * the policy's webhook, and the operator's own check.
 *
 *	dw_approver_attend(people, gate)       once, before the first passage
 *	dw_gate_pass()                       asks; the passage may be WAITING then
 *	wait for the approval's end          as the front door likes
 *	dw_approver_hear()                     OPEN, or SHUT and why
 *	dw_approver_use(), right before it runs, for every passage that is OPEN
 *
 * Serves any number of threads and gates.
 */
struct dw_approver;

struct dw_approver_config {
	/* Borrowed; asked for when somebody is to be asked. NULL: it failed. */
	struct dw_approvals *(*approvals)(void *user, struct dw_error *err);

	/*
	 * Make of a copy of the question's request what would run, or say why it
	 * cannot: nobody is asked about it then. NULL: as dw_gate_apply() has it.
	 */
	int (*dress)(void *user, const struct dw_policy_question *question,
	             const struct dw_permission *passage, struct dw_request *copy,
	             struct dw_error *err);
	void (*complain)(void *user, const char *text); /* of the webhook; or NULL */
	void *user;
};

/* What a passage keeps of it, if somebody was asked. */
struct dw_asked {
	char id[DW_ID_MAX]; /* of the approval */
	int64_t expires_us;
	bool self;             /* who asks may answer */
	struct dw_error error; /* nobody could be asked: why; else DW_OK */
};

int dw_approver_new(const struct dw_approver_config *config, struct dw_approver **ret,
                    struct dw_error *err);

/* Once no gate has them any more. May wait for a webhook under way. Accepts NULL. */
void dw_approver_free(struct dw_approver *people);

void dw_approver_attend(struct dw_approver *people, struct dw_gate *gate);

/* NULL if nobody was. */
const struct dw_asked *dw_approver_asked(const struct dw_permission *passage);

/*
 * What was said to a passage that is WAITING: it is OPEN or SHUT then, or still
 * WAITING. -1: it cannot be found out.
 */
int dw_approver_hear(struct dw_approver *people, struct dw_permission *passage,
                     struct dw_error *err);

/*
 * Right before the run, with the request as it will run: spends the approval, if there
 * is one. (Limits that are left open are as the engine would have them, here and when
 * it was asked about.) 0: see the passage, which may have become SHUT. 1: it was spent on another
 * run, and the passage is to be made anew. -1: it failed, and nothing may run.
 */
int dw_approver_use(struct dw_approver *people, struct dw_permission *passage,
                    const char *who, const char *run, const struct dw_request *req,
                    struct dw_error *err);

#endif
