/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: configure a new file system with fsopen
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd anon_inode:\[fscontext\]
 * Stops:    EPERM=seccomp|capability
 */
#include "attacks/attack.h"

ATTACK(open_a_file_system_context)
{
	if (syscall(SYS_fsopen, "tmpfs", 1 /* FSOPEN_CLOEXEC */) < 0)
		attack_stopped("fsopen");
	else
		attack_hold();
	return 0;
}
