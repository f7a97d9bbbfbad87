/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: trace a process of its own, with all the kernel code behind ptrace
 * Promise:  kernel-surface
 * Oracle:   held status ^TracerPid:.[1-9]
 * Stops:    EPERM=seccomp
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(trace_a_child)
{
	pid_t child = fork();

	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			attack_stopped("ptrace");
		else
			(void)raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(child, NULL, WUNTRACED) == child && kill(child, 0) == 0) {
		attack_hold();
		(void)kill(child, SIGKILL);
	}
	return 0;
}
