/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make and mount a file system with fsopen, fsconfig, fsmount and move_mount
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held mountinfo NONCE
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(mount_with_the_new_calls)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC), fd;

	if (fs < 0) {
		attack_stopped("fsopen");
		return 0;
	}
	(void)mkdir("m", 0777);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "source", attack_value("NONCE"), 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		attack_stopped("fsconfig");
	fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (fd < 0 || move_mount(fd, "", AT_FDCWD, "m", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		attack_stopped("move_mount");
	else
		attack_hold();
	return 0;
}
