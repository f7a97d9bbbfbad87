/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: outlive its deadline by being stopped in the meantime, so that no signal
 *           except SIGKILL and SIGCONT has an effect
 * Promise:  limits
 * Control:  bare
 * Options:  --timeout 700ms
 * Oracle:   held comm ^dw-hold$
 * Stops:    deadline=supervisor
 * Because:  it calls itself dw-hold only after twice that time; level none has a
 *           deadline, too
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(stand_still_past_the_deadline)
{
	if (fork() == 0) {
		attack_pause(1400);
		(void)kill(getppid(), SIGCONT);
		_exit(0);
	}
	(void)raise(SIGSTOP);
	attack_hold();
	return 0;
}
