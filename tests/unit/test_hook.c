/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "approvals/hook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/utf8.h"

static int parse(const char *text, struct dw_hook_answer *ret, struct dw_error *err)
{
	return dw_hook_answer_parse(text, strlen(text), ret, err);
}

static void an_answer_has_a_decision_and_a_reason(void **state)
{
	static const char *const words[] = {"deny", "allow", "ask"};
	struct dw_hook_answer answer = {0};
	struct dw_error err = {0};
	char text[64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		(void)snprintf(text, sizeof(text), " {\"decision\": \"%s\"}\n", words[i]);
		assert_int_equal(parse(text, &answer, &err), 0);
		assert_int_equal(answer.decision, i);
		assert_string_equal(dw_hook_decision_name(answer.decision), words[i]);
		assert_string_equal(answer.reason, "");
		assert_false(answer.failed);
	}
	assert_int_equal(parse("{\"reason\": \"because\", \"decision\": \"ask\"}",
	                       &answer, &err),
	                 0);
	assert_string_equal(answer.reason, "because");
}

static void any_other_answer_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"allow",
		"\"allow\"",
		"[]",
		"{}",
		"null",
		"{\"decision\": null}",
		"{\"decision\": true}",
		"{\"decision\": \"ALLOW\"}",
		"{\"decision\": \"allow \"}",
		"{\"decision\": \"allowed\"}",
		"{\"decision\": [\"allow\"]}",
		"{\"Decision\": \"allow\"}",
		"{\"decision\": \"allow\"",
		"{\"decision\": \"allow\"}}",
		"{\"decision\": \"allow\"} {\"decision\": \"allow\"}",
		"{\"decision\": \"deny\", \"decision\": \"allow\"}",
		"{\"decision\": \"allow\", \"reason\": 1}",
		"{\"decision\": \"allow\", \"reason\": null}",
		"{\"decision\": \"allow\", \"sure\": \"no\"}",
		"{\"reason\": \"allow\"}",
		"{'decision': 'allow'}",
		"{\"decision\": \"allow\\u0000\"}",
		"{\"decision\": \"allow\", \"reason\": \"\xff\"}",
		"HTTP/1.1 200 OK\r\n\r\n{\"decision\": \"allow\"}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct dw_hook_answer answer = {.decision = DW_HOOK_ASK};
		struct dw_error err = {0};

		if (parse(texts[i], &answer, &err) == 0)
			fail_msg("%s is accepted as an answer", texts[i]);
		assert_int_equal(err.code, DW_E_INVALID);
		assert_true(err.text[0] != '\0');
		assert_int_equal(answer.decision, DW_HOOK_ASK);
	}
}

static void a_long_reason_is_truncated_to_one_line_of_valid_utf8(void **state)
{
	struct dw_hook_answer answer = {0};
	struct dw_error err = {0};
	char text[4096] = "{\"decision\": \"deny\", \"reason\": \"x";

	(void)state;
	assert_int_equal(parse("{\"decision\": \"deny\", \"reason\": "
	                       "\"a\\n\\u001b[1m\\u007f\\u009b\\u00e9\"}",
	                       &answer, &err),
	                 0);
	assert_string_equal(answer.reason, "a  [1m   \xc3\xa9");
	for (int i = 0; i < 600; i++)
		(void)strcat(text, "\xc3\xa9");
	(void)strcat(text, "\"}");
	assert_int_equal(parse(text, &answer, &err), 0);
	assert_in_range(strlen(answer.reason), DW_HOOK_REASON_MAX - 3,
	                DW_HOOK_REASON_MAX - 1);
	assert_true(dw_utf8_valid(answer.reason, strlen(answer.reason)));
}

static void an_answer_has_a_ceiling(void **state)
{
	size_t len = DW_HOOK_ANSWER_MAX + 1;
	autofree char *text = malloc(len + 1);
	struct dw_hook_answer answer = {0};
	struct dw_error err = {0};

	(void)state;
	assert_non_null(text);
	memset(text, ' ', len);
	text[len] = '\0';
	memcpy(text, "{\"decision\": \"allow\"}", 21);
	assert_int_equal(dw_hook_answer_parse(text, len - 1, &answer, &err), 0);
	assert_int_equal(dw_hook_answer_parse(text, len, &answer, &err), -1);
}

static void a_hook_is_an_absolute_program_or_a_url(void **state)
{
	static const char *const program[] = {"/bin/true", NULL},
				 *const word[] = {"true", NULL}, *const none[] = {NULL};
	static const char *const good[] = {"http://localhost:8080/x?y", "https://h",
	                                   "http://[::1]/", "https://u:p@h/"};
	static const char *const bad[] = {"",
	                                  "h",
	                                  "ftp://h",
	                                  "file:///etc/passwd",
	                                  "http://",
	                                  "http:///x",
	                                  "HTTP://h",
	                                  "http://h/a b",
	                                  "http://h/\n",
	                                  "http://h/\xc3\xa9",
	                                  "gopher://h"};
	struct dw_hook hook = {.argv = program};
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_hook_check(&hook, &err), 0);
	hook.timeout_ms = DW_HOOK_TIMEOUT_MAX_MS + 1;
	assert_int_equal(dw_hook_check(&hook, &err), -1);
	hook.timeout_ms = 0;
	hook.url = "http://h";
	assert_int_equal(dw_hook_check(&hook, &err), -1);
	hook = (struct dw_hook){0};
	assert_int_equal(dw_hook_check(&hook, &err), -1);
	hook.argv = word;
	assert_int_equal(dw_hook_check(&hook, &err), -1);
	hook.argv = none;
	assert_int_equal(dw_hook_check(&hook, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		hook = (struct dw_hook){.url = good[i]};
		assert_int_equal(dw_hook_check(&hook, &err), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		hook = (struct dw_hook){.url = bad[i]};
		if (dw_hook_check(&hook, &err) == 0)
			fail_msg("%s is accepted as a URL", bad[i]);
	}
}

static void an_invalid_hook_denies(void **state)
{
	struct dw_hook_answer answer = {.decision = DW_HOOK_ALLOW};
	struct dw_hook hook = {0};

	(void)state;
	dw_hook_ask(&hook, "{}", 2, &answer);
	assert_int_equal(answer.decision, DW_HOOK_DENY);
	assert_true(answer.failed);
	assert_non_null(strstr(answer.reason, "a program or a URL"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_has_a_decision_and_a_reason),
		cmocka_unit_test(any_other_answer_is_refused),
		cmocka_unit_test(a_long_reason_is_truncated_to_one_line_of_valid_utf8),
		cmocka_unit_test(an_answer_has_a_ceiling),
		cmocka_unit_test(a_hook_is_an_absolute_program_or_a_url),
		cmocka_unit_test(an_invalid_hook_denies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
