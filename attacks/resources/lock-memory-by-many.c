/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: keep more memory than its limit from being swapped out, in many processes
 *           that each respect their limit on locked memory
 * Promise:  limits
 * Options:  --memory 64M
 * Oracle:   count locked_mb > 100
 * Stops:    oom=limit:memory SIGKILL=limit:memory
 * Because:  where the kernel ends only one of them, its parent says SIGKILL
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "attacks/attack.h"

#define SIZE ((size_t)4 << 20)
#define PROCESSES 40

static char memory[SIZE];

ATTACK(lock_memory_by_many)
{
	int status = 0;

	for (int i = 0; i < PROCESSES; i++) {
		if (fork() == 0) {
			if (mlock(memory, SIZE) < 0)
				_exit(1);
			attack_pause(4000);
			_exit(0);
		}
		attack_pause(5);
	}
	attack_pause(300);
	if (waitpid(-1, &status, WNOHANG) > 0)
		attack_stopped_by(WIFSIGNALED(status) ? "SIGKILL" : "mlock", "waitpid");
	else
		attack_hold();
	return 0;
}
