/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take the right to open files from the supervisor, and then hold more
 *           memory than its limit
 * Promise:  limits
 * Options:  --memory 128M
 * Oracle:   count memory_mb > 250
 * Stops:    EPERM=seccomp oom=limit:memory
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "attacks/attack.h"

ATTACK(blind_the_supervisor)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
	const size_t all = 300U << 20;
	char *map;

	if (prlimit(getppid(), RLIMIT_NOFILE, &none, NULL) < 0) {
		attack_stopped("prlimit");
		return 0;
	}
	map = mmap(NULL, all, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (map == MAP_FAILED)
		attack_stopped("mmap");
	else
		attack_hold();
	return 0;
}
