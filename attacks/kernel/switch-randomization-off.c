/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: switch the randomization of addresses off
 * Promise:  kernel-surface
 * Oracle:   held personality ^0?00[4-7c-f]0000
 * Stops:    EPERM=seccomp
 */
#include <sys/personality.h>

#include "attacks/attack.h"

ATTACK(switch_randomization_off)
{
	if (personality(ADDR_NO_RANDOMIZE) < 0)
		attack_stopped("personality");
	else
		attack_hold();
	return 0;
}
