/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

uint64_t dw_now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000U + (uint64_t)ts.tv_nsec / 1000000U;
}

int dw_ms_until(uint64_t deadline_ms)
{
	uint64_t now = dw_now_ms();

	if (deadline_ms <= now)
		return 0;
	return deadline_ms - now > 60000 ? 60000 : (int)(deadline_ms - now);
}
