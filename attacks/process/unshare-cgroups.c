/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a cgroup namespace of its own
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held ns ^cgroup$
 * Stops:    EPERM=seccomp
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(unshare_cgroups)
{
	if (unshare(CLONE_NEWCGROUP) < 0)
		attack_stopped("unshare");
	else
		attack_hold();
	return 0;
}
