/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: switch address randomization off with a system call of another architecture
 * Promise:  kernel-surface
 * Oracle:   held personality ^0?00[4-7c-f]0000
 * Stops:    seccomp=seccomp
 */
#include <sys/personality.h>

#include "attacks/attack.h"

#define NR_PERSONALITY 136

ATTACK(personality_by_int_0x80)
{
	if (attack_call_i386(NR_PERSONALITY, ADDR_NO_RANDOMIZE, 0) < 0)
		attack_stopped("personality");
	else
		attack_hold();
	return 0;
}
