/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a file system that is mounted nowhere
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd ^/NONCE
 * Stops:    EPERM=seccomp|capability
 * Because:  each call is refused on its own, without a context, too
 */
#include <sys/mount.h>

#include "attacks/attack.h"

ATTACK(make_a_detached_tmpfs)
{
	long fs = syscall(SYS_fsopen, "tmpfs", 0), tree;

	if (fs < 0)
		attack_stopped("fsopen");
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		attack_stopped("fsconfig");
	tree = syscall(SYS_fsmount, fs, 0, 0);
	if (tree < 0 ||
	    openat((int)tree, attack_value("NONCE"), O_RDWR | O_CREAT, 0600) < 0)
		attack_stopped("fsmount");
	else
		attack_hold();
	return 0;
}
