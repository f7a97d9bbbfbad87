/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have a thread of the kernel make its system calls for it
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[io_uring\]
 * Stops:    ENOSYS=seccomp
 */
#include <linux/io_uring.h>

#include "attacks/attack.h"

ATTACK(io_uring_with_a_kernel_thread)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SQPOLL,
		.sq_thread_idle = 10,
	};

	if (syscall(SYS_io_uring_setup, 4, &params) < 0)
		attack_stopped("io_uring_setup");
	else
		attack_hold();
	return 0;
}
