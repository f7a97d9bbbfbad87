/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its process limit with processes that are dead and not reaped
 * Promise:  limits
 * Options:  --pids 16
 * Oracle:   count processes > 40
 * Stops:    EAGAIN=limit:pids pids=limit:pids
 * Not promised: foreign:docker=docker-threads
 */
#include "attacks/attack.h"

#define PROCESSES 100

ATTACK(keep_zombies)
{
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0) {
			attack_stopped("fork");
			return 0;
		}
	}
	attack_pause(300);
	attack_hold();
	return 0;
}
