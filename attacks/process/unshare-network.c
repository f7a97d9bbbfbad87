/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a network namespace of its own, with all of the kernel's network in it
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held ns ^net$
 * Stops:    EPERM=seccomp
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(unshare_network)
{
	if (unshare(CLONE_NEWNET) < 0)
		attack_stopped("unshare");
	else
		attack_hold();
	return 0;
}
