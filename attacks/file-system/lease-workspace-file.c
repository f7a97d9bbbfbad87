/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take a lease on a file of the workspace, which makes every process that wants to
 *           write to it wait
 * Promise:  host-writes
 * Oracle:   held fdinfo/77 lock:.*LEASE
 * Options:  --workspace {base}/ws
 * Stops:    EACCES=namespace|landlock EPERM=seccomp EINVAL=seccomp
 */
#include "attacks/attack.h"

ATTACK(lease_workspace_file)
{
	int fd = open("readme.txt", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || dup2(fd, 77) < 0 || fcntl(77, F_SETLEASE, F_RDLCK) < 0)
		attack_stopped("fcntl");
	else
		attack_hold();
	return 0;
}
