/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: tell another cell a secret in the values of System V semaphores
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    ENOENT=namespace
 * Not promised: process=process-ipc
 */
#include <sys/sem.h>

#include "attacks/attack.h"

#define LETTERS 32

ATTACK(meet_by_semaphores)
{
	key_t key = (key_t)(strtoul(attack_value("NONCE"), NULL, 16) & 0x7fffffff);
	bool first = strcmp(role, "first") == 0;
	int id = semget(key, LETTERS, first ? IPC_CREAT | 0666 : 0);
	const char *secret = attack_value("SECRET");
	unsigned short values[LETTERS] = {0};

	if (id < 0) {
		attack_stopped("semget");
		return 0;
	}
	for (size_t i = 0; first && i < LETTERS && secret[i] != '\0'; i++)
		values[i] = (unsigned char)secret[i];
	if (semctl(id, 0, first ? SETALL : GETALL, values) < 0)
		attack_stopped("semctl");
	if (first) {
		attack_hold();
	} else {
		for (size_t i = 0; i < LETTERS && values[i] != 0; i++)
			(void)putchar(values[i]);
		(void)semctl(id, 0, IPC_RMID);
	}
	return 0;
}
