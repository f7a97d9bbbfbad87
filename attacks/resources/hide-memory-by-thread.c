/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with files that one thread has open and its
 *           process does not
 * Promise:  limits
 * Options:  --memory 128M
 * Oracle:   count memfd_mb > 250
 * Stops:    oom=limit:memory EPERM=seccomp
 */
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>

#include "attacks/attack.h"

static volatile bool filled;

static int fill(void *unused)
{
	static char room[1U << 20];

	(void)unused;
	for (int i = 0; i < 10; i++) {
		int fd = memfd_create("hidden", 0);

		for (int mb = 0; mb < 50; mb++)
			(void)!write(fd, room, sizeof(room));
	}
	filled = true;
	(void)sleep(3);
	return 0;
}

ATTACK(hide_memory_by_thread)
{
	static _Alignas(16) char stack[256U << 10];

	/* Without CLONE_FILES the thread has a descriptor table of its own. */
	if (clone(fill, stack + sizeof(stack), CLONE_VM | CLONE_SIGHAND | CLONE_THREAD,
	          NULL) < 0)
		attack_stopped("clone");
	for (int i = 0; i < 2000 && !filled; i++)
		(void)usleep(1000);
	attack_hold();
	return 0;
}
