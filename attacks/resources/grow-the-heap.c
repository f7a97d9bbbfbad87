/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit by moving the end of its heap
 * Promise:  limits
 * Options:  --memory 64M
 * Oracle:   count memory_mb > 128
 * Stops:    oom=limit:memory ENOMEM=limit:memory
 */

#include "attacks/attack.h"

#define STEP ((size_t)4 << 20)
#define STEPS 50

ATTACK(grow_the_heap)
{
	char *memory;

	for (size_t i = 0; i < STEPS; i++) {
		memory = sbrk((intptr_t)STEP);
		if (memory == (char *)-1) {
			attack_stopped("sbrk");
			return 0;
		}
		memset(memory, 1, STEP);
		attack_pause(3);
	}
	attack_pause(300);
	attack_hold();
	return 0;
}
