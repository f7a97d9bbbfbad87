/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "run/permission.h"

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

static char path[] = "/tmp/dewar-permission-XXXXXX.yaml";

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

static struct dw_policy *load(const char *text)
{
	struct dw_policy *policy = NULL;
	struct dw_error err = {0};
	FILE *file;

	if (strchr(text, ':')) {
		file = fopen(path, "we");
		assert_non_null(file);
		assert_true(fputs(text, file) >= 0);
		assert_int_equal(fclose(file), 0);
		text = path;
	}
	if (dw_policy_load(text, &policy, &err) < 0)
		fail_msg("%s", err.text);
	return policy;
}

static void make_request(struct dw_request *req, const char *code)
{
	dw_request_init(req);
	req->id = "0123456789abcdef0123456789abcdef";
	req->language = "python";
	req->code = (struct dw_bytes){code, strlen(code)};
}

static void decide(struct dw_policy *policy, const struct dw_request *req,
                   struct dw_permission *ret)
{
	struct dw_policy_question question = {.who = "uid:1000 (alice)",
	                                      .door = "http",
	                                      .req = req};
	struct dw_error err = {0};

	if (dw_permission_decide(policy, &question, ret, &err) < 0)
		fail_msg("%s", err.text);
}

static void a_denied_request_has_a_result_with_its_reason(void **state)
{
	struct dw_policy *policy = load("strict");
	struct dw_permission permission = {0};
	struct dw_request req;
	struct dw_result *res;

	(void)state;
	make_request(&req, "import os");
	decide(policy, &req, &permission);
	assert_int_equal(permission.state, DW_PERMISSION_REFUSED);
	assert_string_equal(permission.decided, "deny");
	assert_string_equal(permission.rule, "module");
	res = dw_permission_refusal(&permission, &req);
	assert_string_equal(res->id, req.id);
	assert_int_equal(res->status, DW_STATUS_ERROR);
	assert_int_equal(res->reason, DW_REASON_POLICY);
	assert_false(res->ok);
	assert_int_equal(res->exit_code, -1);
	assert_int_equal(strncmp(res->hint,
	                         "policy strict denies this run (rule module, line ", 49),
	                 0);
	assert_non_null(
		strstr(res->hint, "finding import:os in line 1. Only the modules"));
	assert_int_equal(res->n_findings, 1);
	assert_string_equal(res->findings[0].rule, "import:os");
	assert_int_equal(res->n_warnings, 1);
	assert_non_null(strstr(res->warnings[0], "line 1, column 8: module os"));
	dw_result_free(res);
	dw_permission_finish(&permission);
	dw_policy_unref(policy);
}

static void a_raised_request_has_the_stronger_level(void **state)
{
	struct dw_policy *policy = load("standard");
	struct dw_permission permission = {0};
	struct dw_result res = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "import os; os.system('x')");
	req.level = "process";
	decide(policy, &req, &permission);
	assert_int_equal(permission.state, DW_PERMISSION_GRANTED);
	assert_string_equal(permission.decided, "raise");
	assert_string_equal(permission.rule, "real-walls");
	dw_permission_apply(&permission, &req);
	assert_string_equal(req.level, "container");
	dw_permission_report(&permission, &res);
	assert_int_equal(res.n_warnings, 3);
	assert_string_equal(res.warnings[0],
	                    "the level was raised to container by the policy's rule "
	                    "real-walls: This code needs the walls of level container.");
	assert_int_equal(res.n_findings, 2);
	for (size_t i = 0; i < res.n_warnings; i++)
		free(res.warnings[i]);
	free((void *)res.warnings);
	free(res.findings);
	dw_permission_finish(&permission);
	dw_policy_unref(policy);
}

static void allow_lists_are_added_to_the_request(void **state)
{
	struct dw_policy *policy = load("strict");
	struct dw_permission permission = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "import json");
	decide(policy, &req, &permission);
	assert_int_equal(permission.state, DW_PERMISSION_GRANTED);
	assert_string_equal(permission.decided, "allow");
	assert_string_equal(permission.rule, "default");
	dw_permission_apply(&permission, &req);
	assert_null(req.level);
	assert_null(req.allowed_commands);
	assert_string_equal(req.allowed_modules[0], "abc");
	dw_permission_finish(&permission);
	dw_policy_unref(policy);
}

/* Conditions on limits see the default of a limit that the request does not set. */
static void conditions_see_default_limits(void **state)
{
	struct dw_policy *policy = load(
		"version: 1\ndefault: allow\n"
		"rules: [{name: a, decision: deny, when: {limits: {memory_mb: '> 255'}}}]\n");
	struct dw_permission permission = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "1");
	decide(policy, &req, &permission);
	assert_int_equal(permission.state, DW_PERMISSION_REFUSED);
	dw_permission_finish(&permission);
	req.limits.memory_bytes = 255 << 20;
	decide(policy, &req, &permission);
	assert_int_equal(permission.state, DW_PERMISSION_GRANTED);
	dw_permission_finish(&permission);
	dw_policy_unref(policy);
}

static void a_rule_may_require_an_approval(void **state)
{
	struct dw_policy *policy = load("version: 1\ndefault: ask\n");
	struct dw_permission permission = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "1");
	decide(policy, &req, &permission);
	assert_int_equal(permission.state, DW_PERMISSION_ASK);
	assert_string_equal(permission.decided, "ask");
	assert_string_equal(permission.rule, "default");
	assert_non_null(strstr(permission.hint, "requires approval"));
	dw_permission_finish(&permission);
	dw_policy_unref(policy);
}

#define CHECK                                                                          \
	"version: 1\ndefault: allow\ncheck: {program: [/bin/sh, -c, 'cat >/dev/null; " \
	"%s'], languages: [python]}\n"                                                 \
	"rules: [{name: net, decision: deny, when: {network: full}}]\n"

static struct dw_policy *load_check(const char *script)
{
	char text[512];

	(void)snprintf(text, sizeof(text), CHECK, script);
	return load(text);
}

static void the_operators_check_fails_closed(void **state)
{
	static const struct {
		const char *script;
		enum dw_permission_state state;
		enum dw_reason reason;
		const char *decided;
		const char *hint;
	} table[] = {
		{"echo ''{\"decision\": \"allow\"}''", DW_PERMISSION_GRANTED,
	         DW_REASON_EXIT, "allow", ""},
		{"echo ''{\"decision\": \"deny\", \"reason\": \"it is rude\"}''",
	         DW_PERMISSION_REFUSED, DW_REASON_POLICY, "deny",
	         "denies this run: it is rude"},
		{"echo ''{\"decision\": \"ask\", \"reason\": \"it is rude\"}''",
	         DW_PERMISSION_ASK, DW_REASON_POLICY, "ask",
	         "check requires approval: it is rude"},
		{"exit 3", DW_PERMISSION_REFUSED, DW_REASON_POLICY, "deny",
	         "check failed: "},
	};
	struct dw_permission permission = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "1");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct dw_policy *policy = load_check(table[i].script);

		decide(policy, &req, &permission);
		assert_int_equal(permission.state, table[i].state);
		assert_int_equal(permission.reason, table[i].reason);
		assert_string_equal(permission.decided, table[i].decided);
		assert_non_null(strstr(permission.hint, table[i].hint));
		assert_string_equal(permission.rule, i == 0 ? "default" : "check");
		dw_permission_finish(&permission);
		dw_policy_unref(policy);
	}
}

/* Neither requests that a rule denies, nor other languages. */
static void the_operators_check_sees_only_its_own_requests(void **state)
{
	struct dw_policy *policy = load_check("exit 3");
	struct dw_permission permission = {0};
	struct dw_request req;

	(void)state;
	make_request(&req, "1");
	req.network = DW_NETWORK_FULL;
	decide(policy, &req, &permission);
	assert_string_equal(permission.rule, "net");
	dw_permission_finish(&permission);
	req.network = DW_NETWORK_NONE;
	req.language = "ruby";
	decide(policy, &req, &permission);
	assert_int_equal(permission.state, DW_PERMISSION_GRANTED);
	dw_permission_finish(&permission);
	dw_policy_unref(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_denied_request_has_a_result_with_its_reason),
		cmocka_unit_test(a_raised_request_has_the_stronger_level),
		cmocka_unit_test(allow_lists_are_added_to_the_request),
		cmocka_unit_test(conditions_see_default_limits),
		cmocka_unit_test(a_rule_may_require_an_approval),
		cmocka_unit_test(the_operators_check_fails_closed),
		cmocka_unit_test(the_operators_check_sees_only_its_own_requests),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
