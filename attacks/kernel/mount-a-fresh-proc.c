/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: mount a /proc that has all that the cell's own one leaves out
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held mountinfo NONCE
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(mount_a_fresh_proc)
{
	const char *name = attack_value("NONCE");

	(void)mkdir(name, 0777);
	if (mount(name, name, "proc", MS_NOSUID | MS_NOEXEC, NULL) < 0)
		attack_stopped("mount");
	else
		attack_hold();
	return 0;
}
