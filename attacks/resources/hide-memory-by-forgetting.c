/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: hold more memory than its limit in a shared mapping whose pages it has
 *           filled, and then let go
 * Promise:  limits
 * Options:  --memory 128M
 * Oracle:   count shared_mb > 250
 * Stops:    oom=limit:memory
 * Not promised: sampled:memory=sampled-kernel-memory
 */
#include <sys/mman.h>

#include "attacks/attack.h"

ATTACK(hide_memory_by_forgetting)
{
	const size_t step = 1U << 20, all = 500 * step;
	char *map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	                 -1, 0);

	if (map == MAP_FAILED) {
		attack_stopped("mmap");
		return 0;
	}
	for (size_t at = 0; at < all; at += step) {
		memset(map + at, 1, step);
		/* The pages stay, and are not counted as ours any more. */
		(void)madvise(map + at, step, MADV_DONTNEED);
	}
	attack_hold();
	return 0;
}
