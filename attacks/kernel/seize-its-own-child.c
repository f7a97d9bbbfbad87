/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: trace a child of its own, to change its system calls
 * Promise:  kernel-surface
 * Oracle:   held status ^TracerPid:.[1-9]
 * Stops:    EPERM=seccomp
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(seize_its_own_child)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)sleep(4);
		return 0;
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		attack_stopped("ptrace");
	else
		attack_hold();
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return 0;
}
