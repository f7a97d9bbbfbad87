/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "dewar/dewar.h"
#include "request/limits.h"

/* Limits as people and requests write them, and their values. */
static void every_row_of_the_table_is_consistent(void **state)
{
	struct dw_limits normal = dw_limits_normal();

	(void)state;
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++) {
		const struct dw_limit_row *row = &dw_limit_rows[i];

		assert_string_equal(dw_limit_name(i), row->name);
		assert_true(row->least > 0 && row->least < row->most);
		assert_true(row->most <= UINT64_C(1) << 53); /* exact in JSON */
		assert_true(row->normal == 0 ||
		            (row->normal >= row->least && row->normal <= row->most));
		assert_int_equal(dw_limit_get(&normal, i), row->normal);
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(row->key, dw_limit_rows[k].key);
			assert_string_not_equal(row->option, dw_limit_rows[k].option);
			assert_string_not_equal(row->name, dw_limit_rows[k].name);
		}
	}
}

/* The default as the help prints it ("256M") is the default. */
static void the_printed_default_is_the_default(void **state)
{
	static const char *const words[] = {
#define DW_LIMIT(id, member, kind, option, variable, key, scale, unit, normal, least, \
                 most, name, word, fallback, what)                                    \
	fallback,
#include "dewar/limits.def"
	};
	char first[32];
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++) {
		if (dw_limit_rows[i].normal == 0) {
			assert_string_equal(words[i], "no limit");
			continue;
		}
		(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(words[i], ";"),
		               words[i]);
		assert_int_equal(dw_limit_parse(i, first, &value, NULL), 0);
		assert_int_equal(value, dw_limit_rows[i].normal);
	}
}

static void parse_fails(enum dw_limit limit, const char *text, const char *why)
{
	struct dw_error err = {0};
	uint64_t value = 42;

	assert_int_equal(dw_limit_parse(limit, text, &value, &err), -1);
	assert_int_equal(value, 42);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_string_equal(err.text, why);
}

static void an_error_prints_a_bound_in_its_usual_unit(void **state)
{
	(void)state;
	parse_fails(DW_LIMIT_TIMEOUT, "169h", "must be at most 604800s");
	parse_fails(DW_LIMIT_TIMEOUT, "0", "must be at least 1ms");
	parse_fails(DW_LIMIT_CPU, "1001", "must be at most 100000%");
	parse_fails(DW_LIMIT_TMP, "2T", "must be at most 1T");
	parse_fails(DW_LIMIT_MEMORY, "0", "must be at least 1M");
	parse_fails(DW_LIMIT_FILES, "7", "must be at least 8");
	parse_fails(DW_LIMIT_PIDS, "99999999999", "must be at most 4194304");
}

static void a_missing_unit_is_guessed_for_limits_with_units(void **state)
{
	(void)state;
	parse_fails(DW_LIMIT_MEMORY, "256",
	            "must be at least 1M, not 256 bytes (did you mean 256M?)");
	parse_fails(DW_LIMIT_FILES, "3", "must be at least 8");
}

static void filling_in_keeps_the_limits_that_are_set(void **state)
{
	struct dw_limits limits = {.pids = 3}, other = {.pids = 5, .files = 9};

	(void)state;
	dw_limits_fill(&limits, &other);
	assert_int_equal(limits.pids, 3);
	assert_int_equal(limits.files, 9);
	assert_int_equal(limits.timeout_ms, 0);
}

static void a_choice_is_an_index_or_an_error_with_the_words(void **state)
{
	static const char *const words[] = {"never", "missing", "always", NULL};
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_choose("--pull", "missing", words, &err), 1);
	assert_int_equal(err.code, DW_OK);
	assert_int_equal(dw_choose("--pull", "sometimes", words, &err), -1);
	assert_string_equal(err.text,
	                    "--pull must be never, missing or always, not \"sometimes\"");
	assert_int_equal(dw_choose(NULL, "nevr", words, &err), -1);
	assert_string_equal(err.text,
	                    "must be never, missing or always, not \"nevr\" (did you "
	                    "mean never?)");
	(void)dw_wrap(&err, "--pull");
	assert_int_equal(strncmp(err.text, "--pull must be never", 20), 0);
	assert_int_equal(dw_choose("--pull", "", words, NULL), -1);
}

static void a_list_of_levels_guarantees_what_all_of_them_do(void **state)
{
	struct dw_error err = {0};

	(void)state;
	assert_true(dw_level_guarantees("container") & DW_G_ISOLATED);
	assert_false(dw_level_guarantees("process") & DW_G_ISOLATED);
	assert_true(dw_level_guarantees("process") & DW_G_WALLS);
	assert_false(dw_level_guarantees("container,process") & DW_G_ISOLATED);
	assert_true(dw_level_guarantees("container,docker") & DW_G_ISOLATED);
	assert_false(dw_level_guarantees("container,docker") & DW_G_ENGINE);
	assert_int_equal(dw_level_guarantees("none"), 0);
	assert_int_equal(dw_level_guarantees("container,"), 0);
	assert_int_equal(dw_level_guarantees("vm"), 0);
	assert_int_equal(dw_level_check("level", "docker,container", &err), 0);
	assert_int_equal(dw_level_check("level", "docker,contaner", &err), -1);
	assert_non_null(strstr(err.text, "not \"contaner\" (did you mean container?)"));
	assert_int_equal(dw_level_check("level", "", NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_the_table_is_consistent),
		cmocka_unit_test(the_printed_default_is_the_default),
		cmocka_unit_test(an_error_prints_a_bound_in_its_usual_unit),
		cmocka_unit_test(a_missing_unit_is_guessed_for_limits_with_units),
		cmocka_unit_test(filling_in_keeps_the_limits_that_are_set),
		cmocka_unit_test(a_choice_is_an_index_or_an_error_with_the_words),
		cmocka_unit_test(a_list_of_levels_guarantees_what_all_of_them_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
