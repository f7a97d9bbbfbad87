/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: attach to a process of the host as a debugger, and write into it
 * Promise:  host-processes
 * Control:  root
 * Oracle:   witness
 * Stops:    EPERM=seccomp
 */
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(trace_and_write)
{
	pid_t pid = (pid_t)attack_number("PID");
	unsigned long address = strtoul(attack_value("ADDRESS"), NULL, 16);

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0) {
		attack_stopped("ptrace");
		return 0;
	}
	(void)waitpid(pid, NULL, __WALL);
	if (ptrace(PTRACE_POKEDATA, pid, address, 0x30303030) < 0)
		attack_stopped("poke");
	(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}
