/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: choose the NUMA node of its pages
 * Promise:  kernel-surface
 * Oracle:   held numa_maps bind:0
 * Stops:    ENOSYS=seccomp
 */
#include <linux/mempolicy.h>

#include "attacks/attack.h"

ATTACK(bind_memory_to_a_node)
{
	unsigned long nodes = 1;

	if (syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 64) < 0)
		attack_stopped("set_mempolicy");
	else
		attack_hold();
	return 0;
}
