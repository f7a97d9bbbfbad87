/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: mount terminals of its own
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held mountinfo NONCE
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(mount_a_devpts)
{
	const char *name = attack_value("NONCE");

	(void)mkdir(name, 0777);
	if (mount(name, name, "devpts", MS_NOSUID | MS_NOEXEC, NULL) < 0)
		attack_stopped("mount");
	else
		attack_hold();
	return 0;
}
