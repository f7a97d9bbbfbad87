/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy is refused with its name and a line, or decides on every request: the same way
 * each time, and never for a weaker level than requested.
 */
#undef NDEBUG
#include "policy/decide.h"

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "policy/policy_own.h"

static int weakest(const char *levels)
{
	int least = 1000;

	for (const char *p = levels; *p != '\0'; p += *p == ',') {
		size_t len = strcspn(p, ",");
		int level = dw_policy_level(p, len);

		assert(level >= 0);
		least = level < least ? level : least;
		p += len;
	}
	return least;
}

static void ask(struct dw_policy *policy, const struct dw_request *req)
{
	struct dw_policy_question question = {.who = "uid:0 (root)",
	                                      .door = "cli",
	                                      .req = req};
	struct dw_decision one = {0}, two = {0};
	struct dw_explanation why = {0};

	assert(dw_policy_decide(policy, &question, &one, NULL) == 0);
	assert(dw_policy_decide(policy, &question, &two, NULL) == 0);
	assert(dw_policy_explain(policy, &question, &why, NULL) == 0);
	assert(one.effect == two.effect && one.effect == why.decision.effect);
	assert(one.rule == two.rule && one.line == why.decision.line);
	assert(strcmp(one.matched, two.matched) == 0);
	assert(strcmp(one.level, why.decision.level) == 0);
	if (one.level[0] != '\0')
		assert(weakest(one.level) >= weakest(req->level) && one.raised_by);
	assert(why.n_tried <= dw_policy_n_rules(policy));
	dw_decision_finish(&one);
	dw_decision_finish(&two);
	dw_explanation_finish(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char code[] = "import os\nos.system('ls')\n";
	struct dw_policy *policy = NULL;
	struct dw_error err = {0};
	struct dw_request req;

	if (dw_policy_parse("x.yaml", (const char *)data, size, &policy, &err) < 0) {
		assert(!policy && err.code == DW_E_INVALID);
		assert(strncmp(err.text, "x.yaml:", 7) == 0);
		assert(err.text[7] >= '1' && err.text[7] <= '9');
		fuzz_check_refusal(&err);
		return 0;
	}
	assert(dw_policy_approvals(policy)->expire_s > 0);
	dw_request_init(&req);
	req.language = "python";
	req.code = (struct dw_bytes){code, sizeof(code) - 1};
	req.level = "microvm,process,container";
	ask(policy, &req);
	dw_request_init(&req);
	req.command = "ls | xargs rm > /tmp/x";
	req.level = "none";
	req.network = DW_NETWORK_FULL;
	ask(policy, &req);
	dw_policy_unref(policy);
	return 0;
}
