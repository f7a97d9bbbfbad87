/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: be traced by its parent
 * Promise:  kernel-surface
 * Oracle:   held status ^TracerPid:.[1-9]
 * Stops:    EPERM=seccomp
 */
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(trace_its_own_child)
{
	pid_t pid = fork();

	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	else if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		attack_stopped("ptrace");
	else
		attack_hold();
	return 0;
}
