/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its process limit with processes that share memory, files and
 *           folder, so that each costs next to nothing
 * Promise:  limits
 * Options:  --pids 16
 * Oracle:   count processes > 40
 * Stops:    EAGAIN=limit:pids pids=limit:pids
 * Not promised: foreign:docker=docker-threads
 */
#include <sched.h>
#include <signal.h>

#include "attacks/attack.h"

#define PROCESSES 100
#define STACK 16384

static char stacks[PROCESSES][STACK] __attribute__((aligned(16)));

static int wait_a_while(void *unused)
{
	(void)unused;
	attack_pause(4000);
	return 0;
}

ATTACK(clone_bomb)
{
	for (int i = 0; i < PROCESSES; i++)
		if (clone(wait_a_while, stacks[i] + STACK,
		          CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL) < 0) {
			attack_stopped("clone");
			return 0;
		}
	attack_hold();
	return 0;
}
