/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: mount a file system of its own
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held mountinfo NONCE
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(mount_a_tmpfs)
{
	(void)mkdir("m", 0777);
	if (mount(attack_value("NONCE"), "m", "tmpfs", 0, NULL) < 0)
		attack_stopped("mount");
	else
		attack_hold();
	return 0;
}
