/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: enter the mounts of its parent, and read the host's files there
 * Promise:  host-processes
 * Control:  root
 * Oracle:   secret
 * Stops:    EACCES=landlock EPERM=landlock
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(join_the_namespaces_of_init)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", getppid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNS) < 0)
		attack_stopped(fd < 0 ? "ns/mnt" : "setns");
	else
		(void)attack_spill_file(attack_value("FLAG"));
	return 0;
}
