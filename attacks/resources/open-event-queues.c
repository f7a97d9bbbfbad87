/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its limit on open files with event queues of the kernel
 * Promise:  limits
 * Options:  --files 32
 * Oracle:   count open_files > 100
 * Stops:    EMFILE=limit:files
 */
#include <sys/epoll.h>

#include "attacks/attack.h"

ATTACK(open_event_queues)
{
	for (int i = 0; i < 200; i++)
		if (epoll_create1(0) < 0) {
			attack_stopped("open");
			return 0;
		}
	attack_hold();
	return 0;
}
