/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with shared pages that no other process maps yet
 * Promise:  limits
 * Options:  --memory 64M
 * Oracle:   count memory_mb > 128
 * Stops:    oom=limit:memory ENOMEM=limit:memory
 */
#include "attacks/attack.h"
#include <sys/mman.h>

#define STEP ((size_t)4 << 20)
#define STEPS 50

ATTACK(fill_shared_memory)
{
	char *memory = mmap(NULL, STEPS * STEP, PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		attack_stopped("mmap");
		return 0;
	}
	for (size_t i = 0; i < STEPS; i++) {
		memset(memory + i * STEP, 1, STEP);
		attack_pause(3);
	}
	attack_pause(300);
	attack_hold();
	return 0;
}
