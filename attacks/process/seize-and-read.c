/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: attach to a process of the host without stopping it, and read its memory
 * Promise:  host-processes
 * Control:  root
 * Oracle:   secret
 * Stops:    EPERM=seccomp
 */
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(seize_and_read)
{
	pid_t pid = (pid_t)attack_number("PID");
	unsigned long address = strtoul(attack_value("ADDRESS"), NULL, 16);

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0) {
		attack_stopped("ptrace");
		return 0;
	}
	(void)waitpid(pid, NULL, __WALL);
	for (size_t i = 0; i < 32; i += sizeof(long)) {
		long word = ptrace(PTRACE_PEEKDATA, pid, address + i, NULL);

		(void)!write(STDOUT_FILENO, &word, sizeof(word));
	}
	return 0;
}
