/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: mount an overlayfs, which has had many vulnerabilities
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held mountinfo NONCE
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

/* Returns true if the kernel has no overlayfs yet: a mount would load a module. */
static bool would_load(void)
{
	char known[4096] = "";
	int fd = open("/proc/filesystems", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, known, sizeof(known) - 1) < 0)
		return false;
	(void)close(fd);
	return !strstr(known, "overlay");
}

ATTACK(mount_an_overlay)
{
	const char *name = attack_value("NONCE");

	if (would_load()) {
		(void)printf("cannot: the kernel has no overlayfs yet\n");
		return 0;
	}
	(void)mkdir(name, 0777);
	(void)mkdir("a", 0777);
	(void)mkdir("b", 0777);
	if (mount(name, name, "overlay", 0, "lowerdir=a:b") < 0)
		attack_stopped("mount");
	else
		attack_hold();
	return 0;
}
