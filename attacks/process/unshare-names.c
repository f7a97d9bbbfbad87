/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a namespace of its own for host names
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held ns ^uts$
 * Stops:    EPERM=seccomp
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(unshare_names)
{
	if (unshare(CLONE_NEWUTS) < 0)
		attack_stopped("unshare");
	else
		attack_hold();
	return 0;
}
