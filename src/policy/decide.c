/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/decide.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/policy_own.h"

static const char *const effects[] = {
	[DW_ALLOW] = "allow",
	[DW_DENY] = "deny",
	[DW_ASK] = "ask",
};
_Static_assert(ARRAY_SIZE(effects) == DW_EFFECT_COUNT, "a name for each");

const char *dw_effect_name(enum dw_effect effect)
{
	return (unsigned)effect < DW_EFFECT_COUNT ? effects[effect] : "deny";
}

static enum dw_effect effect_of(enum dw_says says)
{
	return says == DW_SAYS_ALLOW ? DW_ALLOW : says == DW_SAYS_ASK ? DW_ASK : DW_DENY;
}

void dw_decision_finish(struct dw_decision *decision)
{
	dw_findings_finish(&decision->findings);
	free((void *)decision->allowed_modules);
	free((void *)decision->allowed_commands);
	dw_policy_unref(decision->policy);
	*decision = (struct dw_decision){0};
}

void dw_explanation_finish(struct dw_explanation *explanation)
{
	free(explanation->tried);
	dw_decision_finish(&explanation->decision);
	*explanation = (struct dw_explanation){0};
}

/* Drop weaker levels; if none is left, use the level to raise to. */
static void raise_levels(const char *levels, const char *to, char *ret, size_t size)
{
	int least = dw_policy_level(to, strlen(to));
	size_t used = 0;

	ret[0] = '\0';
	for (const char *p = levels; *p != '\0'; p += *p == ',') {
		size_t len = strcspn(p, ",");

		if (dw_policy_level(p, len) >= least && used < size)
			used += (size_t)snprintf(ret + used, size - used, "%s%.*s",
			                         used > 0 ? "," : "", (int)len, p);
		p += len;
	}
	if (used == 0 || used >= size)
		(void)snprintf(ret, size, "%s", to);
}

static void apply_raise(struct dw_decision *decision, struct dw_facts *facts,
                        const struct dw_policy_rule *rule)
{
	char level[DW_DECISION_LEVELS_MAX];

	raise_levels(facts->levels, rule->to, level, sizeof(level));
	if (strcmp(level, facts->levels) == 0)
		return;
	(void)snprintf(decision->level, sizeof(decision->level), "%s", level);
	facts->levels = decision->level;
	decision->raised_by = rule->name;
	decision->raise_reason = rule->reason;
	decision->raise_line = rule->line;
}

static int note(struct dw_explanation *explanation, const struct dw_policy_rule *rule,
                int r, const char *text)
{
	struct dw_tried *tried = &explanation->tried[explanation->n_tried++];

	*tried = (struct dw_tried){.rule = rule->name,
	                           .file = rule->file,
	                           .line = rule->line,
	                           .says = dw_says_names[rule->says],
	                           .fits = r > 0};
	(void)snprintf(tried->text, sizeof(tried->text), "%s", text);
	return r;
}

/* Try the rules in order, and decide. The explanation may be NULL. */
static int walk(struct dw_facts *facts, struct dw_decision *decision,
                struct dw_explanation *explanation, struct dw_error *err)
{
	const struct dw_policy *policy = facts->policy;
	int r;

	for (size_t i = 0; i < policy->n_rules; i++) {
		const struct dw_policy_rule *rule = policy->rules[i];

		r = dw_rule_fits(rule, facts, decision->matched, err);
		if (r >= 0 && explanation)
			r = note(explanation, rule, r, decision->matched);
		if (r < 0)
			return -1;
		if (r > 0 && rule->says == DW_SAYS_RAISE)
			apply_raise(decision, facts, rule);
		if (r == 0 || rule->says == DW_SAYS_RAISE)
			continue;
		decision->effect = effect_of(rule->says);
		decision->rule = rule->name;
		decision->file = rule->file;
		decision->line = rule->line;
		decision->reason = rule->reason;
		return 0;
	}
	decision->effect = effect_of(policy->otherwise);
	decision->rule = "default";
	decision->file = policy->otherwise_file;
	decision->line = policy->otherwise_line;
	(void)snprintf(decision->matched, sizeof(decision->matched),
	               policy->n_rules > 0 ? "no rule matches" : "there are no rules");
	return 0;
}

static bool is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* The names in both lists; a NULL list allows everything. */
static int make_both(const char *const *ours, const char *const *theirs,
                     const char ***ret, struct dw_error *err)
{
	size_t n = 0, used = 0;
	const char **list;

	if (!ours)
		return 0;
	while (ours[n])
		n++;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot decide");
	for (size_t i = 0; i < n; i++)
		if (!theirs || is_in(theirs, ours[i]))
			list[used++] = ours[i];
	*ret = list;
	return 0;
}

/* The lists to enforce inside the cell. */
static int make_allowed(const struct dw_facts *facts, struct dw_decision *decision,
                        struct dw_error *err)
{
	const struct dw_policy *policy = facts->policy, *with = policy;
	const struct dw_request *req = facts->question->req;
	const char *language = dw_analyse_find(facts->language);

	for (size_t i = 0; language && i < DW_POLICY_LANGUAGES; i++)
		if (strcmp(policy->lists[i].language, language) == 0 &&
		    make_both(policy->lists[i].allowed, req->allowed_modules,
		              &decision->allowed_modules, err) < 0)
			return -1;
	if (!facts->is_shell || !policy->has_commands)
		return 0;
	while (!with->shown && with->base)
		with = with->base;
	return make_both(with->shown, req->allowed_commands, &decision->allowed_commands,
	                 err);
}

static int decide(struct dw_policy *policy, const struct dw_policy_question *question,
                  struct dw_decision *ret, struct dw_explanation *explanation,
                  struct dw_error *err)
{
	struct dw_decision decision = {0};
	struct dw_error why = {0};
	struct dw_facts facts;
	int r;

	if (!err)
		err = &why;
	if (dw_facts_init(&facts, policy, question, err) < 0)
		return -1;
	r = walk(&facts, &decision, explanation, err);
	if (r == 0 && explanation)
		r = dw_facts_analyse(&facts, err);
	if (r == 0)
		r = make_allowed(&facts, &decision, err);
	if (r == 0) {
		decision.findings = facts.findings;
		decision.analysed = facts.analysed;
		decision.policy = dw_policy_ref(policy);
		facts.findings = (struct dw_findings){0};
		*ret = decision;
	} else {
		dw_decision_finish(&decision);
	}
	dw_facts_finish(&facts);
	return r;
}

int dw_policy_decide(struct dw_policy *policy, const struct dw_policy_question *question,
                     struct dw_decision *ret, struct dw_error *err)
{
	return decide(policy, question, ret, NULL, err);
}

int dw_policy_explain(struct dw_policy *policy, const struct dw_policy_question *question,
                      struct dw_explanation *ret, struct dw_error *err)
{
	struct dw_explanation explanation = {0};

	explanation.tried = calloc(policy->n_rules + 1, sizeof(*explanation.tried));
	if (!explanation.tried)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot explain");
	if (decide(policy, question, &explanation.decision, &explanation, err) < 0) {
		free(explanation.tried);
		return -1;
	}
	*ret = explanation;
	return 0;
}
