/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/permission.h"

#include <stdio.h>
#include <time.h>

#include "approvals/approvals.h"
#include "cli/report.h"
#include "run/approver.h"

static struct dw_approvals *on_approvals(void *user, struct dw_error *err)
{
	struct dw_cli_permission *permit = user;
	char path[DW_APPROVALS_PATH_MAX];

	if (!permit->approvals && dw_approvals_path(permit->place, path, err) == 0)
		(void)dw_approvals_open(path, NULL, &permit->approvals, err);
	return permit->approvals;
}

static void on_complaint(void *user, const char *text)
{
	const struct dw_cli_permission *permit = user;

	if (!permit->quiet)
		dw_report_line("the webhook of the policy: %s", text);
}

int dw_cli_permission_open(struct dw_cli_permission *permit, const char *policy,
                           struct dw_error *err)
{
	const struct dw_approver_config config = {
		.approvals = on_approvals,
		.complain = on_complaint,
		.user = permit,
	};

	if (dw_gate_open(policy, &permit->gate, err) < 0 ||
	    dw_approver_new(&config, &permit->people, err) < 0)
		return -1;
	dw_approver_attend(permit->people, permit->gate);
	return 0;
}

void dw_cli_permission_close(struct dw_cli_permission *permit)
{
	dw_permission_finish(&permit->passage);
	dw_gate_close(permit->gate);
	dw_approver_free(permit->people);
	dw_approvals_close(permit->approvals);
	*permit = (struct dw_cli_permission){0};
}

static void say_that_we_wait(const struct dw_cli_permission *permit,
                             const struct dw_asked *asked)
{
	int64_t left_s = asked->expires_us / 1000000 - (int64_t)time(NULL);
	char how[DW_ID_MAX + 64];

	if (permit->quiet)
		return;
	if (asked->self)
		(void)snprintf(how, sizeof(how), "`dewar approve yes %s`", asked->id);
	else
		(void)snprintf(how, sizeof(how),
		               "somebody else to approve %s, at a daemon", asked->id);
	dw_report_line("the policy's rule %s wants approval: waiting for %s, %lld s at most",
	               permit->passage.rule, how, (long long)(left_s > 0 ? left_s : 0));
}

/* We were told to end. The question stays open for whoever comes with it again. */
static void give_up(struct dw_permission *passage, const struct dw_asked *asked)
{
	passage->state = DW_GATE_SHUT;
	passage->reason = DW_REASON_APPROVAL_EXPIRED;
	(void)snprintf(passage->hint, sizeof(passage->hint),
	               "it was ended while it waited for approval %s, which stays open: "
	               "the same run finds the answer",
	               asked->id);
}

static int wait(struct dw_cli_permission *permit, const struct dw_request *req,
                struct dw_error *err)
{
	struct dw_permission *passage = &permit->passage;
	const struct dw_asked *asked = dw_approver_asked(passage);
	struct dw_approval approval = {0};

	say_that_we_wait(permit, asked);
	if (dw_approvals_wait(permit->approvals, asked->id, UINT64_MAX, req->cancel_fd,
	                      &approval, err) < 0)
		return dw_wrap(err, "wait for approval %s", asked->id);
	dw_approval_finish(&approval);
	if (dw_approver_hear(permit->people, passage, err) < 0)
		return -1;
	if (passage->state == DW_GATE_WAITING)
		give_up(passage, asked);
	return 0;
}

int dw_cli_permission_get(struct dw_cli_permission *permit, const char *who,
                          struct dw_request *req, struct dw_error *err)
{
	struct dw_policy_question question = {.who = who, .door = "cli", .req = req};
	struct dw_permission *passage = &permit->passage;

	if (dw_gate_pass(permit->gate, &question, passage, err) < 0)
		return -1;
	if (passage->state == DW_GATE_WAITING && wait(permit, req, err) < 0)
		return -1;
	if (passage->state == DW_GATE_OPEN)
		dw_gate_apply(passage, req);
	return 0;
}

int dw_cli_permission_use(struct dw_cli_permission *permit, const char *who,
                          const struct dw_request *req, struct dw_error *err)
{
	struct dw_permission *passage = &permit->passage;
	int r = dw_approver_use(permit->people, passage, who, req->id, req, err);

	if (r <= 0)
		return r;
	passage->state = DW_GATE_SHUT;
	passage->reason = DW_REASON_APPROVAL_EXPIRED;
	(void)snprintf(passage->hint, sizeof(passage->hint),
	               "its approval was used by another run a moment ago; run it again to "
	               "ask anew");
	return 0;
}
