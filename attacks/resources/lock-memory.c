/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: keep more memory than it may from being swapped out
 * Promise:  limits
 * Control:  root
 * Options:  --memory 64M
 * Oracle:   count locked_mb > 100
 * Stops:    ENOMEM=rlimit EPERM=capability oom=limit:memory
 */
#include <sys/mman.h>

#include "attacks/attack.h"

#define STEP ((size_t)4 << 20)
#define STEPS 40

ATTACK(lock_memory)
{
	char *memory = mmap(NULL, STEPS * STEP, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < STEPS; i++) {
		if (mlock(memory + i * STEP, STEP) < 0) {
			attack_stopped("mlock");
			return 0;
		}
		attack_pause(3);
	}
	attack_pause(300);
	attack_hold();
	return 0;
}
