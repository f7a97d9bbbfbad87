/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a time namespace, with a clock of its own
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held ns ^time$
 * Stops:    EPERM=seccomp
 */
#include <sched.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(unshare_time)
{
	pid_t child;

	if (unshare(CLONE_NEWTIME) < 0) {
		attack_stopped("unshare");
		return 0;
	}
	child = fork(); /* the child is the first process inside */
	if (child == 0) {
		attack_hold();
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	return 0;
}
