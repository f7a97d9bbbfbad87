/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: clone the tree from its root with open_tree, and read in the copy
 * Promise:  host-files
 * Control:  root
 * Oracle:   secret
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/mount.h>

#include "attacks/attack.h"

ATTACK(clone_a_tree)
{
	const char *flag = attack_value("FLAG");
	int fd, tree = open_tree(AT_FDCWD, "/",
	                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (tree < 0) {
		attack_stopped("open_tree");
		return 0;
	}
	fd = openat(tree, flag + 1, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		attack_stopped("openat");
	else
		attack_spill(fd);
	return 0;
}
