/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take a detached copy of a mount
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd ^/NONCE
 * Stops:    EPERM=seccomp|capability
 * Because:  a folder in a detached mount has a path without the folders above it
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(clone_a_mount_tree)
{
	const char *name = attack_value("NONCE");
	long tree;

	(void)mkdir(name, 0777);
	tree = syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLONE);
	if (tree < 0 || openat((int)tree, name, O_RDONLY | O_DIRECTORY) < 0)
		attack_stopped("open_tree");
	else
		attack_hold();
	return 0;
}
