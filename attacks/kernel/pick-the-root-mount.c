/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: reconfigure the file system of its root with fspick
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd anon_inode:\[fscontext\]
 * Stops:    EPERM=seccomp|capability
 */
#include "attacks/attack.h"

ATTACK(pick_the_root_mount)
{
	if (syscall(SYS_fspick, AT_FDCWD, "/", 1 /* FSPICK_CLOEXEC */) < 0)
		attack_stopped("fspick");
	else
		attack_hold();
	return 0;
}
