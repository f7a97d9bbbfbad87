/* SPDX-License-Identifier: Apache-2.0 */
#include "approvals/approvals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/record.h"
#include "base/choose.h"
#include "base/cleanup.h"

static const char *const states[] = {
	[DW_APPROVAL_PENDING] = "pending", [DW_APPROVAL_APPROVED] = "approved",
	[DW_APPROVAL_DENIED] = "denied",   [DW_APPROVAL_EXPIRED] = "expired",
	[DW_APPROVAL_USED] = "used",
};
_Static_assert(ARRAY_SIZE(states) == DW_APPROVAL_STATE_COUNT, "each has a name");

static const char *const kinds[] = {
	[DW_REMEMBER_NO] = "no",           [DW_REMEMBER_CODE] = "code",
	[DW_REMEMBER_SESSION] = "session", [DW_REMEMBER_RULE] = "rule",
	[DW_REMEMBER_COUNT] = NULL,
};
_Static_assert(ARRAY_SIZE(kinds) == DW_REMEMBER_COUNT + 1, "each has a name");

const char *dw_approval_state_name(enum dw_approval_state state)
{
	return states[state];
}

const char *dw_remember_name(enum dw_remember kind)
{
	return kinds[kind];
}

int dw_remember_parse(const char *name, enum dw_remember *ret, struct dw_error *err)
{
	int chosen = dw_choose(NULL, name, kinds + DW_REMEMBER_NO + 1, err);

	if (chosen < 0)
		return -1;
	*ret = (enum dw_remember)(chosen + DW_REMEMBER_NO + 1);
	return 0;
}

void dw_approval_finish(struct dw_approval *approval)
{
	free(approval->who);
	free(approval->door);
	free(approval->session);
	free(approval->rule);
	free(approval->reason);
	free(approval->findings);
	free(approval->request);
	free(approval->decided_by);
	free(approval->note);
	*approval = (struct dw_approval){0};
}

void dw_approval_line(const struct dw_approval *approval, char ret[DW_APPROVAL_LINE_MAX])
{
	const char *note = approval->note, *name = states[approval->state];
	bool decided = approval->decided_us != 0;
	char when[DW_AUDIT_TIME_MAX];

	dw_audit_time_text(decided ? approval->decided_us : approval->expires_us, when);
	if (approval->state == DW_APPROVAL_PENDING)
		(void)snprintf(ret, DW_APPROVAL_LINE_MAX, "pending until %s", when);
	else if (!decided)
		(void)snprintf(ret, DW_APPROVAL_LINE_MAX, "expired at %s: nobody decided",
		               when);
	else
		(void)snprintf(ret, DW_APPROVAL_LINE_MAX, "%s by %.300s at %s%s%s%s",
		               approval->state == DW_APPROVAL_DENIED ? name : "approved",
		               approval->decided_by, when,
		               approval->state == DW_APPROVAL_EXPIRED
		                       ? ", not used in time"
		               : approval->state == DW_APPROVAL_USED ? ", and used"
		                                                     : "",
		               note[0] != '\0' ? ": " : "", note);
}
