/* SPDX-License-Identifier: Apache-2.0 */
#include "approvals/approvals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/record.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/values.h"

static const char *const states[] = {
	[DW_APPROVAL_PENDING] = "pending", [DW_APPROVAL_APPROVED] = "approved",
	[DW_APPROVAL_DENIED] = "denied",   [DW_APPROVAL_EXPIRED] = "expired",
	[DW_APPROVAL_USED] = "used",
};
_Static_assert(ARRAY_SIZE(states) == DW_APPROVAL_STATE_COUNT, "a name for each");

const char *const dw_remember_words[] = {
	[DW_REMEMBER_CODE - 1] = "code",
	[DW_REMEMBER_SESSION - 1] = "session",
	[DW_REMEMBER_RULE - 1] = "rule",
	[DW_REMEMBER_COUNT - 1] = NULL,
};

const char *dw_approval_state_name(enum dw_approval_state state)
{
	return states[state];
}

const char *dw_remember_name(enum dw_remember kind)
{
	return kind == DW_REMEMBER_NO ? "no" : dw_remember_words[kind - 1];
}

int dw_remember_parse(const char *name, enum dw_remember *ret, struct dw_error *err)
{
	int chosen = dw_choose(NULL, name, dw_remember_words, err);

	if (chosen < 0)
		return -1;
	*ret = (enum dw_remember)(chosen + 1);
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
		(void)snprintf(ret, DW_APPROVAL_LINE_MAX,
		               "expired at %s without a decision", when);
	else
		(void)snprintf(ret, DW_APPROVAL_LINE_MAX, "%s by %.300s at %s%s%s%s",
		               approval->state == DW_APPROVAL_DENIED ? name : "approved",
		               approval->decided_by, when,
		               approval->state == DW_APPROVAL_EXPIRED
		                       ? ", but not used in time"
		               : approval->state == DW_APPROVAL_USED ? ", and used"
		                                                     : "",
		               note[0] != '\0' ? ": " : "", note);
}

/* ---- JSON ---- */

/* Strings from callers need not be UTF-8. */
static json_t *text(const char *value)
{
	autofree char *clean = NULL;
	size_t len;

	if (value[0] == '\0')
		return json_null();
	clean = dw_utf8_clean(value, strlen(value), &len);
	return clean ? json_stringn(clean, len) : NULL;
}

static json_t *when(int64_t us)
{
	char value[DW_AUDIT_TIME_MAX];

	if (us == 0)
		return json_null();
	dw_audit_time_text(us, value);
	return json_string(value);
}

static json_t *parsed(const char *value)
{
	json_t *json = json_loads(value, JSON_ALLOW_NUL, NULL);

	return json ? json : json_null();
}

static json_t *kind(enum dw_remember value)
{
	return value == DW_REMEMBER_NO ? json_null()
	                               : json_string(dw_remember_name(value));
}

json_t *dw_approval_to_json(const struct dw_approval *a)
{
	return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, "
	                 "s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
	                 "id", a->id, "state", dw_approval_state_name(a->state), "run",
	                 text(a->run), "sha256", a->hash, "who", text(a->who), "door",
	                 text(a->door), "session", text(a->session), "rule",
	                 text(a->rule), "reason", text(a->reason), "allow_self",
	                 a->allow_self, "asked", when(a->asked_us), "expires",
	                 when(a->expires_us), "decided", when(a->decided_us),
	                 "decided_by", text(a->decided_by), "note", text(a->note),
	                 "remember", kind(a->remember), "remembered_as", text(a->memory),
	                 "used_by", text(a->used_by), "findings", parsed(a->findings),
	                 "request", parsed(a->request));
}

json_t *dw_memory_to_json(const struct dw_memory *m)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
	                 m->id, "remember", kind(m->kind), "who", text(m->who), "sha256",
	                 text(m->hash), "session", text(m->session), "rule",
	                 text(m->rule), "decided", when(m->decided_us), "decided_by",
	                 text(m->decided_by), "note", text(m->note), "expires",
	                 when(m->expires_us));
}
