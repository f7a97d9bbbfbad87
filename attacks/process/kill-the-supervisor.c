/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: kill the supervisor, and run on
 * Promise:  nothing-remains
 * Oracle:   remains
 * Stops:    EPERM=landlock
 * Not promised: foreign:docker=docker-init
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(kill_the_supervisor)
{
	if (kill(getppid(), SIGKILL) < 0) {
		attack_stopped("kill");
		return 0;
	}
	(void)sleep(60);
	return 0;
}
