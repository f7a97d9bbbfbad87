/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its process limit with threads
 * Promise:  limits
 * Options:  --pids 16
 * Oracle:   count threads > 40
 * Stops:    EAGAIN=limit:pids pids=limit:pids
 * Not promised: foreign:docker=docker-threads
 */
#include <pthread.h>

#include "attacks/attack.h"

#define THREADS 100

static void *wait_a_while(void *unused)
{
	attack_pause(4000);
	return unused;
}

ATTACK(thread_bomb)
{
	pthread_attr_t attr;
	pthread_t thread;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < THREADS; i++) {
		errno = pthread_create(&thread, &attr, wait_a_while, NULL);
		if (errno != 0) {
			attack_stopped("pthread_create");
			return 0;
		}
	}
	attack_hold();
	return 0;
}
