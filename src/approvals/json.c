/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "approvals/approvals.h"
#include "audit/record.h"
#include "base/cleanup.h"
#include "base/utf8.h"

/* Of what callers said, not all need be UTF-8. */
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
