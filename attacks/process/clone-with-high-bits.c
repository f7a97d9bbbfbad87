/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: start a process in a new user namespace, with a bit set that only the filter looks at (CVE-2019-10063)
 * Promise:  kernel-surface
 * Control:  none
 * Oracle:   held ns ^user$
 * Stops:    EPERM=seccomp
 */
#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(clone_with_high_bits)
{
	long pid = syscall(SYS_clone, 1UL << 32 | CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid < 0) {
		attack_stopped("clone");
	} else if (pid == 0) {
		attack_hold();
		_exit(0);
	} else {
		(void)waitpid((pid_t)pid, NULL, 0);
	}
	return 0;
}
