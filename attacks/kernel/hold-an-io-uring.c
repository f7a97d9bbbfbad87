/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make an io_uring, a second way to most system calls that no filter
 *           sees
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[io_uring\]
 * Stops:    ENOSYS=seccomp EPERM=seccomp
 */
#include "attacks/attack.h"

ATTACK(hold_an_io_uring)
{
	char params[512] = {0};

	if (syscall(SYS_io_uring_setup, 4, params) < 0)
		attack_stopped("io_uring_setup");
	else
		attack_hold();
	return 0;
}
