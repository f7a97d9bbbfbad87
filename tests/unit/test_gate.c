/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "run/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"

static char path[] = "/tmp/dewar-gate-XXXXXX.yaml";

static int make_file(void **state)
{
	int fd = mkstemps(path, 5);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static struct dw_gate *open_gate(const char *text)
{
	struct dw_gate *gate = NULL;
	struct dw_error err = {0};
	FILE *file;

	if (strchr(text, ':')) {
		file = fopen(path, "we");
		assert_non_null(file);
		assert_true(fputs(text, file) >= 0);
		assert_int_equal(fclose(file), 0);
		text = path;
	}
	if (dw_gate_open(text, &gate, &err) < 0)
		fail_msg("%s", err.text);
	return gate;
}

static void make_request(struct dw_request *req, const char *code)
{
	dw_request_init(req);
	req->id = "0123456789abcdef0123456789abcdef";
	req->language = "python";
	req->code = (struct dw_bytes){code, strlen(code)};
}

static void pass(struct dw_gate *gate, const struct dw_request *req,
                 struct dw_permission *ret)
{
	struct dw_policy_question question = {.who = "uid:1000 (alice)",
	                                      .door = "http",
	                                      .req = req};
	struct dw_error err = {0};

	if (dw_gate_pass(gate, &question, ret, &err) < 0)
		fail_msg("%s", err.text);
}

static void what_is_denied_gets_a_typed_result(void **state)
{
	struct dw_gate *gate = open_gate("strict");
	struct dw_permission passage = {0};
	struct dw_request req;
	struct dw_result *res;

	(void)state;
	make_request(&req, "import os");
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_SHUT);
	assert_string_equal(passage.decided, "deny");
	assert_string_equal(passage.rule, "module");
	res = dw_gate_refusal(&passage, &req);
	assert_string_equal(res->id, req.id);
	assert_int_equal(res->status, DW_STATUS_ERROR);
	assert_int_equal(res->reason, DW_REASON_POLICY);
	assert_false(res->ok);
	assert_int_equal(res->exit_code, -1);
	assert_int_equal(strncmp(res->hint,
	                         "the policy strict denies it by its rule module (line ",
	                         53),
	                 0);
	assert_non_null(
		strstr(res->hint, "finding import:os in line 1. Only the modules"));
	assert_int_equal(res->n_findings, 1);
	assert_string_equal(res->findings[0].rule, "import:os");
	assert_int_equal(res->n_warnings, 1);
	assert_non_null(strstr(res->warnings[0], "line 1, column 8: module os"));
	dw_result_free(res);
	dw_permission_finish(&passage);
	dw_gate_close(gate);
	dw_gate_close(NULL);
}

static void what_is_raised_runs_at_the_stronger_level(void **state)
{
	struct dw_gate *gate = open_gate("standard");
	struct dw_permission passage = {0};
	struct dw_result res = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "import os; os.system('x')");
	req.level = "process";
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_OPEN);
	assert_string_equal(passage.decided, "raise");
	assert_string_equal(passage.rule, "real-walls");
	dw_gate_apply(&passage, &req);
	assert_string_equal(req.level, "container");
	dw_gate_remark(&passage, &res);
	assert_int_equal(res.n_warnings, 3);
	assert_string_equal(res.warnings[0],
	                    "the level was raised to container by the policy's rule "
	                    "real-walls: What it does needs real walls.");
	assert_int_equal(res.n_findings, 2);
	for (size_t i = 0; i < res.n_warnings; i++)
		free(res.warnings[i]);
	free((void *)res.warnings);
	free(res.findings);
	dw_permission_finish(&passage);
	dw_gate_close(gate);
}

static void lists_go_into_the_request(void **state)
{
	struct dw_gate *gate = open_gate("strict");
	struct dw_permission passage = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "import json");
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_OPEN);
	assert_string_equal(passage.decided, "allow");
	assert_string_equal(passage.rule, "default");
	dw_gate_apply(&passage, &req);
	assert_null(req.level);
	assert_null(req.allowed_commands);
	assert_string_equal(req.allowed_modules[0], "abc");
	dw_permission_finish(&passage);
	dw_gate_close(gate);
}

/* Limits are those that would hold, not those that were said. */
static void default_limits_count(void **state)
{
	struct dw_gate *gate = open_gate(
		"version: 1\ndefault: allow\n"
		"rules: [{name: a, decision: deny, when: {limits: {memory_mb: '> 255'}}}]\n");
	struct dw_permission passage = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "1");
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_SHUT);
	dw_permission_finish(&passage);
	req.limits.memory_bytes = 255 << 20;
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_OPEN);
	dw_permission_finish(&passage);
	dw_gate_close(gate);
}

#define ASK "version: 1\ndefault: ask\n"

static void without_an_approver_asking_refuses(void **state)
{
	struct dw_gate *gate = open_gate(ASK);
	struct dw_permission passage = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "1");
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_SHUT);
	assert_string_equal(passage.decided, "ask");
	assert_int_equal(passage.reason, DW_REASON_UNAVAILABLE);
	assert_non_null(strstr(passage.hint, "approvals are not set up here"));
	dw_permission_finish(&passage);
	dw_gate_close(gate);
}

static int forgotten;

static int say_yes(void *user, const struct dw_policy_question *question,
                   struct dw_permission *passage, struct dw_error *err)
{
	(void)err;
	assert_string_equal(question->who, "uid:1000 (alice)");
	assert_non_null(question->limits);
	assert_int_equal(passage->state, DW_GATE_SHUT);
	passage->state = DW_GATE_OPEN;
	passage->approval = user;
	return 0;
}

static int fail_to_ask(void *user, const struct dw_policy_question *question,
                       struct dw_permission *passage, struct dw_error *err)
{
	(void)user;
	(void)question;
	passage->state = DW_GATE_OPEN;
	return dw_fail(err, DW_E_INTERNAL, 0, "the queue is gone");
}

static void forget(void *user, struct dw_permission *passage)
{
	assert_ptr_equal(passage->approval, user);
	forgotten++;
}

static void an_approver_has_the_last_word(void **state)
{
	struct dw_gate_approver approver = {.user = &forgotten,
	                                    .ask = say_yes,
	                                    .forget = forget};
	struct dw_gate *gate = open_gate(ASK);
	struct dw_permission passage = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "1");
	dw_gate_set_approver(gate, &approver);
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_OPEN);
	assert_string_equal(passage.decided, "ask");
	dw_permission_finish(&passage);
	assert_int_equal(forgotten, 1);

	approver = (struct dw_gate_approver){.ask = fail_to_ask};
	dw_gate_set_approver(gate, &approver);
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_SHUT);
	assert_int_equal(passage.reason, DW_REASON_INTERNAL);
	assert_non_null(strstr(passage.hint, "the queue is gone"));
	dw_permission_finish(&passage);
	dw_gate_close(gate);
}

#define CHECK                                                                         \
	"version: 1\ndefault: allow\ncheck: {program: /bin/x, languages: [python]}\n" \
	"rules: [{name: net, decision: deny, when: {network: full}}]\n"

static int checks;
static enum dw_verdict says;

static int check(void *user, const struct dw_policy_hook *hook,
                 const struct dw_policy_question *question,
                 const struct dw_permission *passage, enum dw_verdict *ret_verdict,
                 char ret_why[DW_DECISION_TEXT_MAX], struct dw_error *err)
{
	(void)user;
	(void)passage;
	assert_string_equal(hook->program[0], "/bin/x");
	assert_int_equal(hook->timeout_s, 5);
	assert_non_null(question->req);
	checks++;
	if (says == DW_VERDICT_COUNT) {
		*ret_verdict = DW_ALLOW;
		return dw_fail(err, DW_E_INTERNAL, 0, "it took too long");
	}
	*ret_verdict = says;
	(void)snprintf(ret_why, DW_DECISION_TEXT_MAX, "it is rude");
	return 0;
}

static void the_operators_check_fails_closed(void **state)
{
	static const struct {
		enum dw_verdict says;
		enum dw_gate_state state;
		enum dw_reason reason;
		const char *decided;
		const char *hint;
	} table[] = {
		{DW_ALLOW, DW_GATE_OPEN, DW_REASON_EXIT, "allow", ""},
		{DW_DENY, DW_GATE_SHUT, DW_REASON_POLICY, "deny",
	         "denies it: it is rude"},
		{DW_ASK, DW_GATE_SHUT, DW_REASON_UNAVAILABLE, "ask",
	         "check asks a person about it: it is rude; there is nobody to ask"},
		{DW_VERDICT_COUNT, DW_GATE_SHUT, DW_REASON_POLICY, "deny",
	         "check failed: it took too long"},
	};
	struct dw_gate_checker checker = {.check = check};
	struct dw_gate *gate = open_gate(CHECK);
	struct dw_permission passage = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "1");
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_SHUT);
	assert_int_equal(passage.reason, DW_REASON_UNAVAILABLE);
	assert_string_equal(passage.decided, "deny");
	assert_string_equal(passage.rule, "check");
	dw_permission_finish(&passage);

	dw_gate_set_checker(gate, &checker);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		says = table[i].says;
		pass(gate, &req, &passage);
		assert_int_equal(passage.state, table[i].state);
		assert_int_equal(passage.reason, table[i].reason);
		assert_string_equal(passage.decided, table[i].decided);
		assert_non_null(strstr(passage.hint, table[i].hint));
		dw_permission_finish(&passage);
	}
	assert_int_equal(checks, (int)ARRAY_SIZE(table));

	/* Not of what is denied already, nor of other languages. */
	req.network = DW_NETWORK_FULL;
	pass(gate, &req, &passage);
	assert_string_equal(passage.rule, "net");
	dw_permission_finish(&passage);
	req.network = DW_NETWORK_NONE;
	req.language = "ruby";
	pass(gate, &req, &passage);
	assert_int_equal(passage.state, DW_GATE_OPEN);
	dw_permission_finish(&passage);
	assert_int_equal(checks, (int)ARRAY_SIZE(table));
	dw_gate_close(gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_denied_gets_a_typed_result),
		cmocka_unit_test(what_is_raised_runs_at_the_stronger_level),
		cmocka_unit_test(lists_go_into_the_request),
		cmocka_unit_test(default_limits_count),
		cmocka_unit_test(without_an_approver_asking_refuses),
		cmocka_unit_test(an_approver_has_the_last_word),
		cmocka_unit_test(the_operators_check_fails_closed),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
