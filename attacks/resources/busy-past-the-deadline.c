/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: outlive its deadline in a new process every few milliseconds, so that
 *           ending one leaves the next
 * Promise:  limits
 * Control:  bare
 * Options:  --timeout 700ms
 * Oracle:   held comm ^dw-hold$
 * Stops:    deadline=supervisor
 * Because:  it calls itself dw-hold only after twice that time; level none has a
 *           deadline, too
 */
#include <sys/wait.h>
#include <time.h>

#include "attacks/attack.h"

static long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

ATTACK(busy_past_the_deadline)
{
	/* Use the clock: on a busy host each process takes longer than its pause. */
	long end = now_ms() + 1400;

	for (bool first = true; now_ms() < end; first = false) {
		pid_t pid = fork();

		if (pid < 0)
			attack_stopped("fork");
		if (pid != 0) {
			/* The first process stays: when it exits, the run ends. */
			if (first)
				attack_pause(4500);
			_exit(0);
		}
		(void)setsid();
		attack_pause(5);
	}
	attack_hold();
	return 0;
}
