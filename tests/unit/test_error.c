/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "dewar/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void fail_fills_the_error_and_returns_minus_one(void **state)
{
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_fail(&err, DW_E_BUSY, 0, "%d cells are open", 64), -1);
	assert_int_equal(err.code, DW_E_BUSY);
	assert_int_equal(err.sys_errno, 0);
	assert_string_equal(err.text, "64 cells are open");
}

static void fail_appends_the_message_of_errno(void **state)
{
	struct dw_error err = {0};

	(void)state;
	(void)dw_fail(&err, DW_E_INTERNAL, EACCES, "open %s", "memory.max");
	assert_int_equal(err.sys_errno, EACCES);
	assert_string_equal(err.text, "open memory.max: Permission denied");

	(void)dw_fail(&err, DW_E_INTERNAL, 99999, "open");
	assert_string_equal(err.text, "open: unknown error");
}

static void fail_and_wrap_leave_errno_alone(void **state)
{
	struct dw_error err = {0};

	(void)state;
	errno = EXDEV;
	(void)dw_fail(&err, DW_E_INTERNAL, EACCES, "open");
	(void)dw_wrap(&err, "start");
	assert_int_equal(errno, EXDEV);
}

static void a_caller_may_pass_no_error_struct(void **state)
{
	(void)state;
	assert_int_equal(dw_fail(NULL, DW_E_INTERNAL, EACCES, "open"), -1);
	assert_int_equal(dw_wrap(NULL, "start"), -1);
}

static void wrap_prefixes_the_context(void **state)
{
	struct dw_error err = {0};

	(void)state;
	(void)dw_fail(&err, DW_E_INTERNAL, EACCES, "set memory.max");
	assert_int_equal(dw_wrap(&err, "start cell %s", "7f3a"), -1);
	assert_string_equal(err.text,
	                    "start cell 7f3a: set memory.max: Permission denied");
	assert_int_equal(err.code, DW_E_INTERNAL);
	assert_int_equal(err.sys_errno, EACCES);
}

static void text_of_any_length_is_truncated_and_terminated(void **state)
{
	struct dw_error err = {0};
	char text[2 * DW_ERROR_TEXT_MAX];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';

	(void)dw_fail(&err, DW_E_INVALID, EACCES, "%s", text);
	assert_int_equal(strlen(err.text), DW_ERROR_TEXT_MAX - 1);
	(void)dw_wrap(&err, "front");
	assert_int_equal(strlen(err.text), DW_ERROR_TEXT_MAX - 1);
	assert_memory_equal(err.text, "front: xxx", 10);
	(void)dw_wrap(&err, "%s", text);
	assert_int_equal(strlen(err.text), DW_ERROR_TEXT_MAX - 1);
}

static void control_characters_in_text_become_blanks(void **state)
{
	struct dw_error err = {0};

	(void)state;
	(void)dw_fail(&err, DW_E_INVALID, 0, "a\nb\r\x1b[31m\x7f");
	assert_string_equal(err.text, "a b  [31m ");
	(void)dw_wrap(&err, "x\ny");
	assert_string_equal(err.text, "x y: a b  [31m ");
}

static void every_code_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(dw_code_name(DW_OK), "ok");
	assert_string_equal(dw_code_name(DW_E_NOT_FOUND), "not_found");
	for (unsigned i = 0; i < DW_E_COUNT; i++)
		assert_non_null(dw_code_name(i));
	assert_string_equal(dw_code_name(DW_E_COUNT), "internal");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_fills_the_error_and_returns_minus_one),
		cmocka_unit_test(fail_appends_the_message_of_errno),
		cmocka_unit_test(fail_and_wrap_leave_errno_alone),
		cmocka_unit_test(a_caller_may_pass_no_error_struct),
		cmocka_unit_test(wrap_prefixes_the_context),
		cmocka_unit_test(text_of_any_length_is_truncated_and_terminated),
		cmocka_unit_test(control_characters_in_text_become_blanks),
		cmocka_unit_test(every_code_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
