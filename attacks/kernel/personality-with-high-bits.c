/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: hide a personality from the filter behind bits that the kernel does not look at
 * Promise:  kernel-surface
 * Oracle:   held personality ^0?00[4-7c-f]0000
 * Stops:    EPERM=seccomp
 */
#include <sys/personality.h>

#include "attacks/attack.h"

ATTACK(personality_with_high_bits)
{
	if (syscall(SYS_personality, 1UL << 32 | ADDR_NO_RANDOMIZE) < 0)
		attack_stopped("personality");
	else
		attack_hold();
	return 0;
}
