/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: start a process in a new user namespace by clone3, whose arguments no filter can see
 * Promise:  kernel-surface
 * Control:  none
 * Oracle:   held ns ^user$
 * Stops:    ENOSYS=seccomp
 */
#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(clone3_into_new_users)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_NEWNET,
		.exit_signal = SIGCHLD,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

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
