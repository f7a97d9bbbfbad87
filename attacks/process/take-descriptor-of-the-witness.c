/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take an open descriptor out of a process of the host (pidfd_getfd)
 * Promise:  host-processes
 * Control:  root
 * Oracle:   secret
 * Stops:    ESRCH=namespace EPERM=seccomp
 */
#include "attacks/attack.h"

ATTACK(take_descriptor_of_the_witness)
{
	long pidfd = syscall(SYS_pidfd_open, attack_number("PID"), 0);
	long fd = pidfd < 0 ? -1 : syscall(SYS_pidfd_getfd, pidfd, 5, 0);
	char data[64] = "";

	if (fd < 0) {
		attack_stopped(pidfd < 0 ? "pidfd_open" : "pidfd_getfd");
		return 0;
	}
	(void)!pread((int)fd, data, sizeof(data) - 1, 0);
	(void)puts(data);
	return 0;
}
