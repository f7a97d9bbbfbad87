/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to:     lock a file of the workspace, which makes every other process that locks it wait
 * Promise:      host-writes
 * Oracle:       held fdinfo/77 lock:.*FLOCK
 * Options:      --workspace {base}/ws
 * Stops:        EPERM=seccomp EACCES=landlock
 * Not promised: process=shared-files container=shared-files docker=shared-files
 */
#include <sys/file.h>

#include "attacks/attack.h"

ATTACK(lock_workspace_file)
{
	int fd = open("readme.txt", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || dup2(fd, 77) < 0 || flock(77, LOCK_EX | LOCK_NB) < 0)
		attack_stopped("flock");
	else
		attack_hold();
	return 0;
}
