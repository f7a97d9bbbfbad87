/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with page tables
 * Promise:  limits
 * Options:  --memory 24M
 * Oracle:   held status ^VmPTE:[^0-9]+([5-9][0-9]|[1-9][0-9]{2})[0-9]{3} kB
 * Stops:    oom=limit:memory ENOMEM=limit:memory
 * Not promised: sampled:memory=sampled-kernel-memory
 */
#include <sys/mman.h>

#include "attacks/attack.h"

#define TABLE ((size_t)2 << 20) /* the memory that one page of a table maps */
#define TABLES 16384

ATTACK(grow_page_tables)
{
	char *memory = mmap(NULL, TABLE * TABLES, PROT_READ,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	volatile char seen = 0;

	if (memory == MAP_FAILED) {
		attack_stopped("mmap");
		return 0;
	}
	(void)madvise(memory, TABLE * TABLES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < TABLES; i++) {
		seen = memory[i * TABLE];
		if (i % 512 == 0)
			attack_pause(2);
	}
	attack_pause(300 + seen);
	attack_hold();
	return 0;
}
