/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: raise its limit on processes, and then exceed it
 * Promise:  limits
 * Options:  --pids 16
 * Oracle:   count processes > 40
 * Stops:    EAGAIN=limit:pids pids=limit:pids
 * Not promised: foreign:docker=docker-threads
 */
#include <sys/resource.h>

#include "attacks/attack.h"

#define PROCESSES 100

ATTACK(raise_process_limit)
{
	const struct rlimit lim = {PROCESSES * 10, RLIM_INFINITY};

	/* Ignore the result: what counts is how many processes we can start. */
	(void)setrlimit(RLIMIT_NPROC, &lim);
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			attack_pause(4000);
			_exit(0);
		}
		if (pid < 0) {
			attack_stopped("fork");
			return 0;
		}
	}
	attack_hold();
	return 0;
}
