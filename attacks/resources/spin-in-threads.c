/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its cpu limit with several threads of one process
 * Promise:  limits
 * Options:  --cpus 0.02
 * Oracle:   count cpu_percent > 6
 * Stops:    throttled=cgroup
 * Not promised: unenforced:cpu=limit-not-enforced
 * Because:  "throttled" is what it says if in 300 ms it got less than a
 *           quarter of that in processor time
 */
#include <pthread.h>
#include <time.h>

#include "attacks/attack.h"

#define MS 1000000LL

static long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

#define THREADS 3

static void *spin_for(void *ms)
{
	long long begin = clock_ns(CLOCK_MONOTONIC);

	while (clock_ns(CLOCK_MONOTONIC) - begin < (intptr_t)ms * MS)
		;
	return NULL;
}

static void spin_all(pthread_t threads[THREADS], intptr_t ms)
{
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, spin_for, (void *)ms) != 0)
			attack_stopped("pthread_create");
}

ATTACK(spin_in_threads)
{
	pthread_t threads[THREADS] = {0};

	spin_all(threads, 300);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	if (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < 75 * MS)
		attack_stopped_by("throttled", "clock_gettime");
	spin_all(threads, 1000);
	attack_hold();
	return 0;
}
