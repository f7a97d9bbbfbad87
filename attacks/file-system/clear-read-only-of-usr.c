/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: clear the read-only flag of /usr with mount_setattr, and write to it
 * Promise:  host-writes
 * Control:  root
 * Oracle:   files
 * Stops:    EPERM=seccomp|capability EROFS=mount EACCES=landlock
 *           docker:EACCES=landlock|capability
 */
#include <sys/mount.h>

#include "attacks/attack.h"

static void make_file(const char *folder)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, attack_value("NONCE"));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		attack_stopped("open");
}

ATTACK(clear_read_only_of_usr)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
	const char *usr = attack_value("USR");

	if (mount_setattr(AT_FDCWD, usr, 0, &attr, sizeof(attr)) < 0)
		attack_stopped("mount_setattr");
	make_file(usr);
	return 0;
}
