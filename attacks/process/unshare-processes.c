/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a pid namespace, in which it would be init
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held ns ^pid$
 * Stops:    EPERM=seccomp
 */
#include <sched.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(unshare_processes)
{
	pid_t child;

	if (unshare(CLONE_NEWPID) < 0) {
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
