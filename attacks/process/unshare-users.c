/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a user namespace, in which it would have every capability
 * Promise:  kernel-surface
 * Control:  none
 * Oracle:   held ns ^user$
 * Stops:    EPERM=seccomp
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(unshare_users)
{
	if (unshare(CLONE_NEWUSER) < 0)
		attack_stopped("unshare");
	else
		attack_hold();
	return 0;
}
