/* SPDX-License-Identifier: Apache-2.0 */
/* A policy in a build without grammars: code that cannot be analysed is not allowed. */
#undef NDEBUG
#include "policy/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static enum dw_effect effect_of(const char *decision, const char *otherwise)
{
	struct dw_request req;
	struct dw_policy_question question = {"uid:1000 (alice)", "cli", &req, NULL};
	struct dw_decision said = {0};
	struct dw_policy *policy = NULL;
	struct dw_error err = {0};
	enum dw_effect effect;
	char text[256];

	(void)snprintf(text, sizeof(text),
	               "version: 1\ndefault: %s\n"
	               "rules: [{name: x, when: {findings: 'import:os'}, decision: %s}]\n",
	               otherwise, decision);
	dw_request_init(&req);
	req.language = "python";
	req.code = (struct dw_bytes){"print(1)", 8};
	if (dw_policy_parse("x.yaml", text, strlen(text), &policy, &err) < 0 ||
	    dw_policy_decide(policy, &question, &said, &err) < 0)
		fail_msg("%s", err.text);
	effect = said.effect;
	assert_true(said.findings.n == 1);
	assert_string_equal(said.findings.list[0].rule, "analysis:unavailable");
	dw_decision_finish(&said);
	dw_policy_unref(policy);
	return effect;
}

static void rules_about_findings_match_unless_they_allow(void **state)
{
	(void)state;
	assert_int_equal(effect_of("deny", "allow"), DW_DENY);
	assert_int_equal(effect_of("ask", "allow"), DW_ASK);
	assert_int_equal(effect_of("allow", "deny"), DW_DENY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_about_findings_match_unless_they_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
