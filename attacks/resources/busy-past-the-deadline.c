/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: be there after its deadline, in a new process every few milliseconds,
 *           so that whoever ends one finds the next
 * Promise:  limits
 * Control:  bare
 * Options:  --timeout 700ms
 * Oracle:   held comm ^dw-hold$
 * Stops:    deadline=supervisor
 * Because:  it calls itself dw-hold only after twice that time; level none has a
 *           deadline, too
 */
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(busy_past_the_deadline)
{
	for (int ms = 0; ms < 1400; ms += 5) {
		pid_t pid = fork();

		if (pid < 0)
			attack_stopped("fork");
		if (pid != 0) {
			/* The first one stays, since with it all would end. */
			if (ms == 0)
				attack_pause(4500);
			_exit(0);
		}
		(void)setsid();
		attack_pause(5);
	}
	attack_hold();
	return 0;
}
