/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with a System V segment
 * Promise:  limits
 * Options:  --memory 64M
 * Oracle:   count memory_mb > 128
 * Stops:    oom=limit:memory ENOMEM=limit:memory
 */
#include "attacks/attack.h"
#include <sys/shm.h>

#define STEP ((size_t)4 << 20)
#define STEPS 50

ATTACK(fill_sysv_segment)
{
	int id = shmget(IPC_PRIVATE, STEPS * STEP, IPC_CREAT | 0600);
	char *memory = id < 0 ? (char *)-1 : shmat(id, NULL, 0);

	if (id >= 0) /* the kernel removes it with its last user */
		(void)shmctl(id, IPC_RMID, NULL);
	if (memory == (char *)-1) {
		attack_stopped("shmget");
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
