/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: mount the tree of cgroups, to leave its own
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held mountinfo NONCE
 * Stops:    EPERM=seccomp
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(mount_the_cgroups)
{
	(void)mkdir("m", 0777);
	if (unshare(CLONE_NEWCGROUP) < 0)
		attack_stopped("unshare");
	if (mount(attack_value("NONCE"), "m", "cgroup2", MS_RDONLY, NULL) < 0)
		attack_stopped("mount");
	else
		attack_hold();
	return 0;
}
