/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make all readable memory executable (personality)
 * Promise:  kernel-surface
 * Oracle:   held personality ^0?04[0-9a-f]{5}
 * Stops:    EPERM=seccomp
 */
#include <sys/personality.h>

#include "attacks/attack.h"

ATTACK(make_readable_executable)
{
	if (personality(READ_IMPLIES_EXEC) < 0)
		attack_stopped("personality");
	else
		attack_hold();
	return 0;
}
