/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a namespace of its own for message queues
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held ns ^ipc$
 * Stops:    EPERM=seccomp
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(unshare_ipc)
{
	if (unshare(CLONE_NEWIPC) < 0)
		attack_stopped("unshare");
	else
		attack_hold();
	return 0;
}
