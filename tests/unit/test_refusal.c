/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "daemon/api_error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "base/cleanup.h"

static json_t *parse(const struct dw_api_error *refusal)
{
	autofree char *text = dw_api_error_to_json(refusal);
	json_t *root;

	assert_non_null(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_int_equal(json_object_size(root), 1);
	assert_int_equal(json_object_size(json_object_get(root, "error")), 3);
	return root;
}

static const char *part(json_t *root, const char *key)
{
	return json_string_value(json_object_get(json_object_get(root, "error"), key));
}

static void a_refusal_has_a_code_a_message_and_a_hint(void **state)
{
	struct dw_api_error why;
	json_t *root;

	(void)state;
	errno = EXDEV;
	assert_int_equal(dw_api_fail(&why, 404, "see /v1/runs", "no run %s", "4f2a"), -1);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(why.status, 404);
	assert_int_equal(why.retry_after_s, 0);

	root = parse(&why);
	assert_string_equal(part(root, "code"), "not_found");
	assert_string_equal(part(root, "message"), "no run 4f2a");
	assert_string_equal(part(root, "hint"), "see /v1/runs");
	json_decref(root);
}

static void every_status_has_its_code(void **state)
{
	static const struct {
		int status;
		const char *code;
	} all[] = {
		{400, "invalid"},
		{401, "unauthorized"},
		{403, "denied"},
		{404, "not_found"},
		{405, "method_not_allowed"},
		{406, "not_acceptable"},
		{408, "timeout"},
		{409, "conflict"},
		{411, "too_large"},
		{413, "too_large"},
		{415, "unsupported_media_type"},
		{421, "misdirected"},
		{429, "busy"},
		{500, "internal"},
		{501, "unsupported"},
		{503, "unavailable"},
		/* Dewar sends none of these; they have a code all the same. */
		{418, "invalid"},
		{599, "internal"},
		{0, "internal"},
	};
	struct dw_api_error why;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		(void)dw_api_fail(&why, all[i].status, NULL, "x");
		assert_string_equal(why.code, all[i].code);
	}
}

static void a_refusal_to_retry_later_says_when(void **state)
{
	struct dw_api_error why;

	(void)state;
	(void)dw_api_fail(&why, 429, NULL, "the queue is full");
	assert_int_equal(why.retry_after_s, 1);
	(void)dw_api_fail(&why, 503, NULL, "the daemon is about to end");
	assert_int_equal(why.retry_after_s, 1);
}

static void an_error_has_the_status_of_its_code(void **state)
{
	static const int statuses[] = {500, 400, 403, 404, 429, 501, 500};
	struct dw_error err = {0};
	struct dw_api_error why;

	(void)state;
	for (unsigned i = 0; i < DW_E_COUNT; i++) {
		(void)dw_fail(&err, (enum dw_code)i, 0, "because %u", i);
		assert_int_equal(dw_api_fail_with(&why, &err), -1);
		assert_int_equal(why.status, statuses[i]);
		assert_string_equal(why.message, err.text);
		assert_string_equal(why.hint, "");
		if (i != DW_OK)
			assert_string_equal(why.code, dw_code_name((enum dw_code)i));
	}
	err.code = (enum dw_code)99;
	(void)dw_api_fail_with(&why, &err);
	assert_int_equal(why.status, 500);
}

static void any_bytes_become_valid_json(void **state)
{
	char noise[2 * DW_ERROR_TEXT_MAX];
	struct dw_api_error why;
	json_t *root;

	(void)state;
	(void)dw_api_fail(&why, 400, "\xc3", "a \xff \"b\" \xe2\x82 \n\x01");
	root = parse(&why);
	assert_string_equal(part(root, "message"),
	                    "a \xef\xbf\xbd \"b\" \xef\xbf\xbd \n\x01");
	assert_string_equal(part(root, "hint"), "\xef\xbf\xbd");
	json_decref(root);

	/* Truncated in the middle of a character. */
	for (size_t i = 0; i + 2 < sizeof(noise); i += 2)
		memcpy(noise + i, "\xc3\xa4", 2);
	noise[sizeof(noise) - 2] = '\0';
	(void)dw_api_fail(&why, 400, noise, "%s", noise);
	json_decref(parse(&why));
}

static void a_missing_hint_is_null(void **state)
{
	struct dw_api_error why;
	json_t *root;

	(void)state;
	(void)dw_api_fail(&why, 400, NULL, "x");
	root = parse(&why);
	assert_true(
		json_is_null(json_object_get(json_object_get(root, "error"), "hint")));
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_has_a_code_a_message_and_a_hint),
		cmocka_unit_test(every_status_has_its_code),
		cmocka_unit_test(a_refusal_to_retry_later_says_when),
		cmocka_unit_test(an_error_has_the_status_of_its_code),
		cmocka_unit_test(any_bytes_become_valid_json),
		cmocka_unit_test(a_missing_hint_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
