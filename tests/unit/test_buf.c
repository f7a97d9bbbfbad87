/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

static void appended_data_ends_with_a_nul(void **state)
{
	autobuf struct dw_buf buf;

	(void)state;
	dw_buf_init(&buf, 1000);
	assert_null(buf.data);
	assert_int_equal(dw_buf_add(&buf, "ab\0c", 4), 0);
	assert_int_equal(dw_buf_puts(&buf, "de"), 0);
	assert_int_equal(dw_buf_printf(&buf, "%d", 42), 0);
	assert_int_equal(buf.len, 8);
	assert_memory_equal(buf.data, "ab\0cde42", 9);
	assert_false(buf.failed);
}

static void the_buffer_grows_over_many_appends(void **state)
{
	autobuf struct dw_buf buf;

	(void)state;
	dw_buf_init(&buf, 1 << 20);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(dw_buf_printf(&buf, "%04d", i), 0);
	assert_int_equal(buf.len, 40000);
	assert_memory_equal(buf.data + 4 * 1234, "1234", 4);
}

static void the_ceiling_is_exact_to_the_byte(void **state)
{
	autobuf struct dw_buf buf;

	(void)state;
	dw_buf_init(&buf, 4);
	assert_int_equal(dw_buf_add(&buf, "abcd", 4), 0);
	assert_false(buf.failed);
	assert_int_equal(dw_buf_add(&buf, "e", 1), -E2BIG);
	assert_true(buf.failed);
	assert_int_equal(buf.len, 4);
	assert_string_equal(buf.data, "abcd");
}

static void a_failure_is_remembered(void **state)
{
	autobuf struct dw_buf buf;

	(void)state;
	dw_buf_init(&buf, 4);
	assert_int_equal(dw_buf_puts(&buf, "too long"), -E2BIG);
	(void)dw_buf_puts(&buf, "abc");
	assert_true(buf.failed);
}

static void add_upto_appends_what_fits(void **state)
{
	autobuf struct dw_buf buf;

	(void)state;
	dw_buf_init(&buf, 5);
	assert_int_equal(dw_buf_add_upto(&buf, "abc", 3), 3);
	assert_int_equal(dw_buf_add_upto(&buf, "defg", 4), 2);
	assert_int_equal(dw_buf_add_upto(&buf, "h", 1), 0);
	assert_string_equal(buf.data, "abcde");
	assert_false(buf.failed);
}

static void a_length_that_overflows_is_refused(void **state)
{
	autobuf struct dw_buf buf;

	(void)state;
	dw_buf_init(&buf, SIZE_MAX);
	assert_int_equal(dw_buf_puts(&buf, "a"), 0);
	assert_int_equal(dw_buf_add(&buf, "b", SIZE_MAX), -E2BIG);
	assert_int_equal(dw_buf_add(&buf, "b", SIZE_MAX - 1), -E2BIG);
	assert_string_equal(buf.data, "a");
}

static void take_passes_the_data_on_and_empties_the_buffer(void **state)
{
	autobuf struct dw_buf buf;
	autofree char *data = NULL;
	size_t len = 0;

	(void)state;
	dw_buf_init(&buf, 100);
	(void)dw_buf_puts(&buf, "abc");
	data = dw_buf_take(&buf, &len);
	assert_string_equal(data, "abc");
	assert_int_equal(len, 3);
	assert_null(buf.data);
	assert_int_equal(buf.len, 0);
	assert_int_equal(dw_buf_puts(&buf, "again"), 0);
}

static void taking_an_empty_buffer_gives_an_empty_string(void **state)
{
	autobuf struct dw_buf buf;
	autofree char *data = NULL;

	(void)state;
	dw_buf_init(&buf, 0);
	data = dw_buf_take(&buf, NULL);
	assert_non_null(data);
	assert_string_equal(data, "");
}

static void finish_may_be_called_twice(void **state)
{
	struct dw_buf buf;

	(void)state;
	dw_buf_init(&buf, 100);
	(void)dw_buf_puts(&buf, "abc");
	errno = EXDEV;
	dw_buf_finish(&buf);
	dw_buf_finish(&buf);
	assert_int_equal(errno, EXDEV);
	assert_null(buf.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appended_data_ends_with_a_nul),
		cmocka_unit_test(the_buffer_grows_over_many_appends),
		cmocka_unit_test(the_ceiling_is_exact_to_the_byte),
		cmocka_unit_test(a_failure_is_remembered),
		cmocka_unit_test(add_upto_appends_what_fits),
		cmocka_unit_test(a_length_that_overflows_is_refused),
		cmocka_unit_test(take_passes_the_data_on_and_empties_the_buffer),
		cmocka_unit_test(taking_an_empty_buffer_gives_an_empty_string),
		cmocka_unit_test(finish_may_be_called_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
