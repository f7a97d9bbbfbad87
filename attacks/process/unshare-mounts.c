/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a mount namespace of its own
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held ns ^mnt$
 * Stops:    EPERM=seccomp
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(unshare_mounts)
{
	if (unshare(CLONE_NEWNS) < 0)
		attack_stopped("unshare");
	else
		attack_hold();
	return 0;
}
