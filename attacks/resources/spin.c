/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its cpu limit with one loop
 * Promise:  limits
 * Options:  --cpus 0.02
 * Oracle:   count cpu_percent > 6
 * Stops:    throttled=cgroup
 * Not promised: unenforced:cpu=limit-not-enforced
 * Because:  "throttled" is what it says if in 300 ms it got less than a
 *           quarter of that in processor time
 */
#include <time.h>

#include "attacks/attack.h"

#define MS 1000000LL

static long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

/* Returns the cpu time that it got, in ms. */
static long long spin_for(long long ms)
{
	long long begin = clock_ns(CLOCK_MONOTONIC);
	long long used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	while (clock_ns(CLOCK_MONOTONIC) - begin < ms * MS)
		;
	return (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - used) / MS;
}

ATTACK(spin)
{
	if (spin_for(300) < 75)
		attack_stopped_by("throttled", "clock_gettime");
	attack_ready();
	(void)spin_for(1000);
	attack_hold();
	return 0;
}
