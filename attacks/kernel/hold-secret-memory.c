/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take memory that even the kernel cannot look at or reclaim
 * Promise:  kernel-surface
 * Oracle:   held fd secretmem
 * Stops:    ENOSYS=seccomp
 */
#include "attacks/attack.h"

ATTACK(hold_secret_memory)
{
	if (syscall(SYS_memfd_secret, O_CLOEXEC) < 0)
		attack_stopped("memfd_secret");
	else
		attack_hold();
	return 0;
}
