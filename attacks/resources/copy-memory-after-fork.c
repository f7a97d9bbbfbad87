/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with copies that are made as children write to
 *           their parent's memory
 * Promise:  limits
 * Options:  --memory 64M
 * Oracle:   count memory_mb > 128
 * Stops:    oom=limit:memory SIGKILL=limit:memory
 * Because:  where the kernel ends only one of them, its parent says SIGKILL
 */
#include <sys/wait.h>

#include "attacks/attack.h"

#define SIZE ((size_t)20 << 20)
#define CHILDREN 9

static char memory[SIZE];

ATTACK(copy_memory_after_fork)
{
	memset(memory, 1, SIZE);
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0) {
			memset(memory, 2, SIZE);
			attack_pause(4000);
			_exit(0);
		}
		attack_pause(20);
	}
	attack_pause(400);
	if (waitpid(-1, NULL, WNOHANG) > 0)
		attack_stopped_by("SIGKILL", "waitpid");
	else
		attack_hold();
	return 0;
}
