/* SPDX-License-Identifier: Apache-2.0 */
#include "run/approver.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/advice.h"
#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/utf8.h"

/* Takes ownership of root, which may be NULL. */
static char *dump(json_t *root)
{
	json_auto_t *owned = root;

	return owned ? json_dumps(owned, JSON_COMPACT) : NULL;
}

/* Returns "" for code that is not text. */
static const char *code_of(const json_t *request)
{
	static const char *const keys[] = {"code", "command", "program"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *text = json_string_value(json_object_get(request, keys[i]));

		if (text)
			return text;
	}
	return "";
}

static char *excerpt_of(const json_t *request)
{
	const char *code = code_of(request);
	size_t len = strnlen(code, DW_APPROVAL_EXCERPT_MAX);

	if (code[len] != '\0')
		len -= dw_utf8_unfinished(code, len);
	return strndup(code, len);
}

char *dw_pending_message(const struct dw_approval *approval)
{
	json_t *tree = dw_approval_to_json(approval);
	autofree char *excerpt = excerpt_of(json_object_get(tree, "request"));

	(void)json_object_del(tree, "request");
	(void)json_object_del(tree, "findings");
	if (excerpt)
		(void)json_object_set_new(tree, "excerpt", json_string(excerpt));
	return dump(
		json_pack("{s:s, s:o}", "event", "approval.pending", "approval", tree));
}

static json_t *text_of(const char *text)
{
	autofree char *clean = NULL;
	size_t len;

	if (!text)
		return json_null();
	clean = dw_utf8_clean(text, strlen(text), &len);
	return clean ? json_stringn(clean, len) : NULL;
}

char *dw_check_message(const struct dw_policy_question *question,
                       const struct dw_permission *permission)
{
	const struct dw_decision *d = &permission->decision;
	struct dw_request req = *question->req;
	autofree char *request = NULL;

	dw_permission_apply(permission, &req);
	if (question->limits)
		req.limits = *question->limits;
	request = dw_audit_describe(&req);
	if (!request)
		return NULL;
	return dump(json_pack("{s:i, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "version",
	                      1, "run", text_of(req.id), "who", text_of(question->who),
	                      "door", text_of(question->door), "decision",
	                      permission->decided, "rule", text_of(permission->rule),
	                      "level", text_of(req.level), "findings",
	                      dw_advice_json(&d->findings), "request",
	                      json_loads(request, JSON_ALLOW_NUL, NULL)));
}
