/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take from the supervisor the socket on which it reports the result
 * Promise:  honest-result
 * Control:  root
 * Oracle:   held fd ^socket:
 * Stops:    EPERM=seccomp
 */
#include "attacks/attack.h"

ATTACK(take_descriptor_of_the_supervisor)
{
	long pidfd = syscall(SYS_pidfd_open, getppid(), 0), fd;

	if (pidfd < 0) {
		attack_stopped("pidfd_open");
		return 0;
	}
	for (int i = 3; i < 40; i++) {
		fd = syscall(SYS_pidfd_getfd, pidfd, i, 0);
		if (fd < 0 && errno != EBADF) {
			attack_stopped("pidfd_getfd");
			return 0;
		}
	}
	attack_hold();
	return 0;
}
