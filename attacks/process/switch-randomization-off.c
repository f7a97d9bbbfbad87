/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have programs loaded at addresses that are known beforehand
 * Promise:  kernel-surface
 * Oracle:   held personality ^00040000
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
