/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its cpu limit with several processes at once
 * Promise:  limits
 * Options:  --cpus 0.02
 * Oracle:   count cpu_percent > 6
 * Stops:    throttled=cgroup
 * Not promised: unenforced:cpu=limit-not-enforced
 * Because:  "throttled" is what it says if in 300 ms it got less than a
 *           quarter of that in processor time
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "attacks/attack.h"

#define MS 1000000LL

static long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

#define PROCESSES 3

static void spin_for(long long ms)
{
	long long begin = clock_ns(CLOCK_MONOTONIC);

	while (clock_ns(CLOCK_MONOTONIC) - begin < ms * MS)
		;
}

static void spin_all(long long ms)
{
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			spin_for(ms);
			_exit(0);
		}
}

ATTACK(spin_by_many)
{
	struct rusage used;

	spin_all(300);
	while (wait(NULL) > 0)
		;
	(void)getrusage(RUSAGE_CHILDREN, &used);
	if (used.ru_utime.tv_sec == 0 && used.ru_utime.tv_usec < 75000)
		attack_stopped_by("throttled", "getrusage");
	spin_all(1500);
	attack_hold();
	return 0;
}
