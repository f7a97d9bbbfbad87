/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: enter a namespace of a process of the host, and ask for the host's name
 * Promise:  host-processes
 * Control:  root
 * Oracle:   secret
 * Stops:    ENOENT=namespace EACCES=landlock
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(join_names_of_the_witness)
{
	char path[64], name[65] = "";
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%ld/ns/uts", attack_number("PID"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWUTS) < 0)
		attack_stopped(fd < 0 ? path : "setns");
	else if (gethostname(name, sizeof(name)) == 0)
		(void)puts(name);
	return 0;
}
