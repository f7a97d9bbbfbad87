/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: kill its parent, which reports how it ended
 * Promise:  honest-result
 * Oracle:   forged
 * Stops:    EPERM=landlock result=namespace
 * Not promised: foreign:docker=docker-init
 * Because:  where Landlock does not restrict signals, the parent is process 1 of its namespace,
 *           which ignores them
 */
#include <signal.h>
#include <time.h>

#include "attacks/attack.h"

ATTACK(kill_the_reporter)
{
	const struct timespec wait = {.tv_nsec = 200000000};

	if (kill(getppid(), SIGKILL) < 0)
		attack_stopped("kill");
	(void)nanosleep(&wait, NULL);
	return 7;
}
