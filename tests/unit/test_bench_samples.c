/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "bench/samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void fill(struct dw_samples *s, int first, int last)
{
	int step = first <= last ? 1 : -1;

	for (int i = first; i != last + step; i += step)
		assert_int_equal(dw_samples_add(s, i), 0);
}

static void without_samples_there_is_no_percentile(void **state)
{
	struct dw_samples s = {0};

	(void)state;
	assert_true(isnan(dw_samples_percentile(&s, 50)));
	dw_samples_finish(&s);
}

static void one_sample_is_every_percentile(void **state)
{
	static const double at[] = {0, 1, 50, 99, 100};
	struct dw_samples s = {0};

	(void)state;
	fill(&s, 7, 7);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		assert_true(dw_samples_percentile(&s, at[i]) == 7);
	dw_samples_finish(&s);
}

static void percentiles_do_not_depend_on_the_order_of_samples(void **state)
{
	struct dw_samples up = {0}, down = {0};

	(void)state;
	fill(&up, 1, 1000);
	fill(&down, 1000, 1);
	for (double p = 1; p <= 100; p++) {
		assert_true(dw_samples_percentile(&up, p) == p * 10);
		assert_true(dw_samples_percentile(&down, p) == p * 10);
	}
	dw_samples_finish(&up);
	dw_samples_finish(&down);
}

static void a_percentile_is_always_a_measured_value(void **state)
{
	struct dw_samples s = {0};

	(void)state;
	fill(&s, 1, 4);
	assert_true(dw_samples_percentile(&s, 50) == 2);
	assert_true(dw_samples_percentile(&s, 51) == 3);
	assert_true(dw_samples_percentile(&s, 99) == 4);
	assert_true(dw_samples_percentile(&s, 200) == 4);
	assert_true(dw_samples_percentile(&s, -1) == 1);
	dw_samples_finish(&s);
}

static void joining_adds_all_samples_of_the_other(void **state)
{
	struct dw_samples s = {0}, more = {0};

	(void)state;
	fill(&s, 1, 50);
	fill(&more, 51, 100);
	assert_int_equal(dw_samples_join(&s, &more), 0);
	assert_int_equal(s.n, 100);
	assert_int_equal(more.n, 50);
	assert_true(dw_samples_percentile(&s, 75) == 75);
	dw_samples_finish(&s);
	dw_samples_finish(&more);
	assert_int_equal(s.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_samples_there_is_no_percentile),
		cmocka_unit_test(one_sample_is_every_percentile),
		cmocka_unit_test(percentiles_do_not_depend_on_the_order_of_samples),
		cmocka_unit_test(a_percentile_is_always_a_measured_value),
		cmocka_unit_test(joining_adds_all_samples_of_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
