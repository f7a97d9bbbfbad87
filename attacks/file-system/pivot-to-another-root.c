/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exchange its root for another with pivot_root
 * Promise:  host-writes
 * Control:  root
 * Oracle:   held mountinfo ^[0-9]+ [0-9]+ [0-9:]+ / / .* NONCE 
 * Stops:    EPERM=seccomp|capability
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(pivot_to_another_root)
{
	/* The control may pivot: its own mount namespace protects the range's root. */
	if (unshare(CLONE_NEWNS) < 0)
		attack_stopped("unshare");
	else if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 1;
	(void)mkdir("m", 0777);
	if (mount(attack_value("NONCE"), "m", "tmpfs", 0, NULL) < 0)
		attack_stopped("mount");
	if (chdir("m") < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		attack_stopped("pivot_root");
	else
		attack_hold();
	return 0;
}
