/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: mount /usr again, writable, and write to it
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

ATTACK(remount_usr_writable)
{
	const char *usr = attack_value("USR");

	if (mount(NULL, usr, NULL, MS_REMOUNT | MS_BIND, NULL) < 0)
		attack_stopped("mount");
	make_file(usr);
	return 0;
}
