/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: start asynchronous input and output in the kernel, the old way
 * Promise:  kernel-surface
 * Oracle:   held maps \[aio\]
 * Stops:    ENOSYS=seccomp
 */
#include "attacks/attack.h"

ATTACK(hold_an_aio_context)
{
	unsigned long context = 0;

	if (syscall(SYS_io_setup, 4, &context) < 0)
		attack_stopped("io_setup");
	else
		attack_hold();
	return 0;
}
