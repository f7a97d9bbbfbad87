/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: kill its parent, which is who tells how it ended
 * Promise:  honest-result
 * Oracle:   forged
 * Stops:    EPERM=landlock result=namespace
 * Not promised: foreign:docker=docker-init
 * Because:  where Landlock knows no signals, the parent is process 1 of its namespace,
 *           and so deaf
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
