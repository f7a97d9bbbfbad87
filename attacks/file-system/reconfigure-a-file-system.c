/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make the file system behind /usr writable with fspick, and write to it
 * Promise:  host-writes
 * Control:  root
 * Oracle:   files
 * Stops:    EPERM=seccomp|capability EROFS=mount EACCES=landlock
 *           docker:EACCES=landlock|capability
 */
#include <sys/mount.h>

#include "attacks/attack.h"

ATTACK(reconfigure_a_file_system)
{
	const char *usr = attack_value("USR");
	int fs = fspick(AT_FDCWD, usr, FSPICK_CLOEXEC);
	char path[256];

	if (fs < 0)
		attack_stopped("fspick");
	else if (fsconfig(fs, FSCONFIG_SET_FLAG, "rw", NULL, 0) < 0 ||
	         fsconfig(fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		attack_stopped("fsconfig");
	(void)snprintf(path, sizeof(path), "%s/%s", usr, attack_value("NONCE"));
	if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) < 0)
		attack_stopped("open");
	return 0;
}
