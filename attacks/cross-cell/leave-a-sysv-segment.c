/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a System V segment for the next cell
 * Promise:  nothing-remains
 * Cells:    after
 * Oracle:   secret
 * Stops:    ENOENT=namespace
 * Not promised: process=process-ipc
 */
#include <sys/shm.h>

#include "attacks/attack.h"

ATTACK(leave_a_sysv_segment)
{
	key_t key = (key_t)(strtoul(attack_value("NONCE"), NULL, 16) & 0x7fffffff);
	bool first = strcmp(role, "first") == 0;
	int id = shmget(key, 4096, first ? IPC_CREAT | 0666 : 0);
	char *memory = id < 0 ? (char *)-1 : shmat(id, NULL, 0);

	if (memory == (char *)-1) {
		attack_stopped("shmget");
	} else if (first) {
		(void)snprintf(memory, 4096, "%s", attack_value("SECRET"));
	} else {
		(void)puts(memory);
		(void)shmctl(id, IPC_RMID, NULL);
	}
	return 0;
}
