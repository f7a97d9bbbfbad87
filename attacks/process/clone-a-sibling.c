/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: start a process that is its parent's child, and not its own
 * Promise:  nothing-remains
 * Control:  bare
 * Oracle:   remains
 * Stops:    EPERM=seccomp
 */
#include <linux/sched.h>
#include <signal.h>

#include "attacks/attack.h"

ATTACK(clone_a_sibling)
{
	long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	if (pid < 0)
		attack_stopped("clone");
	if (pid == 0) {
		(void)sleep(60);
		_exit(0);
	}
	return 0;
}
