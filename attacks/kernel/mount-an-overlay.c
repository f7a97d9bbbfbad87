/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: lay one folder over another with overlayfs, where many holes have been
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held mountinfo NONCE
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(mount_an_overlay)
{
	const char *name = attack_value("NONCE");

	(void)mkdir(name, 0777);
	(void)mkdir("a", 0777);
	(void)mkdir("b", 0777);
	if (mount(name, name, "overlay", 0, "lowerdir=a:b") < 0)
		attack_stopped("mount");
	else
		attack_hold();
	return 0;
}
