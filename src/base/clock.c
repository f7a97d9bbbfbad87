/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

static uint64_t read_ns(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

uint64_t dw_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t dw_now_ms(void)
{
	return read_ns(CLOCK_MONOTONIC) / 1000000U;
}

uint64_t dw_wall_ms(void)
{
	return read_ns(CLOCK_REALTIME) / 1000000U;
}

int64_t dw_wall_us(void)
{
	return (int64_t)(read_ns(CLOCK_REALTIME) / 1000U);
}

struct timespec dw_time_in(uint64_t ms)
{
	/* Add seconds separately: a long timeout would overflow as nanoseconds. */
	uint64_t ns = dw_now_ns() + ms % 1000 * 1000000U;

	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000U + ms / 1000),
	                         .tv_nsec = (long)(ns % 1000000000U)};
}

int dw_ms_until(uint64_t deadline_ms)
{
	uint64_t now = dw_now_ms();

	if (deadline_ms <= now)
		return 0;
	return deadline_ms - now > 60000 ? 60000 : (int)(deadline_ms - now);
}
