/* SPDX-License-Identifier: Apache-2.0 */
#include "run/permission.h"

#include "analysis/advice.h"
#include "run/request_check.h"

int dw_permission_explain(struct dw_policy *policy,
                          const struct dw_policy_question *question,
                          struct dw_explanation *ret, struct dw_error *err)
{
	struct dw_policy_question full = *question;
	struct dw_limits limits;

	if (!full.limits) {
		dw_request_limits(full.req, &limits);
		full.limits = &limits;
	}
	if (dw_policy_explain(policy, &full, ret, err) < 0)
		return -1;
	dw_permission_trim(&ret->decision, full.req);
	return 0;
}

static json_t *words_json(const char **words)
{
	json_t *array = words ? json_array() : json_null();

	for (size_t i = 0; words && words[i]; i++)
		if (json_array_append_new(array, json_string(words[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *tried_json(const struct dw_explanation *explanation)
{
	json_t *array = json_array();

	for (size_t i = 0; i < explanation->n_tried; i++) {
		const struct dw_tried *t = &explanation->tried[i];
		json_t *item = json_pack("{s:s, s:s, s:i, s:s, s:b, s:s}", "rule",
		                         t->rule, "file", t->file, "line", (int)t->line,
		                         "decision", t->says, "fits", (int)t->fits, "why",
		                         t->text);

		if (json_array_append_new(array, item) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

json_t *dw_explanation_json(const struct dw_explanation *explanation)
{
	const struct dw_decision *d = &explanation->decision;

	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s?, s:s?, s:s?, s:o, s:o, s:o, s:o}",
	                 "decision", dw_effect_name(d->effect), "rule", d->rule, "file",
	                 d->file, "line", (int)d->line, "matched", d->matched, "reason",
	                 d->reason, "level", d->level[0] != '\0' ? d->level : NULL,
	                 "raised_by", d->raised_by, "allowed_modules",
	                 words_json(d->allowed_modules), "allowed_commands",
	                 words_json(d->allowed_commands), "findings",
	                 dw_advice_json(&d->findings), "tried", tried_json(explanation));
}
