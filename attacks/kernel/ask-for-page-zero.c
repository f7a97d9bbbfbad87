/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: map a page at address 0, where null pointers of the kernel lead
 * Promise:  kernel-surface
 * Oracle:   held personality ^0?01[0-9a-f]{5}
 * Stops:    EPERM=seccomp
 */
#include <sys/personality.h>

#include "attacks/attack.h"

ATTACK(ask_for_page_zero)
{
	if (personality(MMAP_PAGE_ZERO) < 0)
		attack_stopped("personality");
	else
		attack_hold();
	return 0;
}
