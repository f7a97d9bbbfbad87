/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void all_units_of_a_clock_agree(void **state)
{
	uint64_t ns = dw_now_ns(), ms = dw_now_ms();
	int64_t us = dw_wall_us();
	uint64_t wall_ms = dw_wall_ms();

	(void)state;
	assert_in_range(ms, ns / 1000000, ns / 1000000 + 10000);
	assert_in_range(wall_ms, us / 1000, us / 1000 + 10000);
	assert_in_range(wall_ms / 1000, time(NULL) - 10, time(NULL) + 1);
}

static void the_time_left_is_a_timeout_for_poll(void **state)
{
	uint64_t now = dw_now_ms();

	(void)state;
	assert_int_equal(dw_ms_until(now), 0);
	assert_int_equal(dw_ms_until(now - 1), 0);
	assert_in_range(dw_ms_until(now + 30000), 20000, 30000);
	assert_int_equal(dw_ms_until(UINT64_MAX), 60000);
}

static void a_time_in_the_future_is_that_far_ahead(void **state)
{
	struct timespec then = dw_time_in(1999), far = dw_time_in(UINT64_MAX / 1000);
	uint64_t now = dw_now_ns();

	(void)state;
	assert_in_range(then.tv_nsec, 0, 999999999);
	assert_in_range((uint64_t)then.tv_sec * 1000000000U + (uint64_t)then.tv_nsec, now,
	                now + 1999000000U);
	assert_true((uint64_t)far.tv_sec >= UINT64_MAX / 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_units_of_a_clock_agree),
		cmocka_unit_test(the_time_left_is_a_timeout_for_poll),
		cmocka_unit_test(a_time_in_the_future_is_that_far_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
