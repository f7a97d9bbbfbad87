/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: choose the NUMA node of one mapping
 * Promise:  kernel-surface
 * Oracle:   held numa_maps interleave:0
 * Stops:    ENOSYS=seccomp
 */
#include <linux/mempolicy.h>
#include <sys/mman.h>

#include "attacks/attack.h"

ATTACK(bind_a_mapping_to_a_node)
{
	unsigned long nodes = 1;
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                 -1, 0);

	map[0] = 1;
	if (syscall(SYS_mbind, map, 4096, MPOL_INTERLEAVE, &nodes, 64, 0) < 0)
		attack_stopped("mbind");
	else
		attack_hold();
	return 0;
}
