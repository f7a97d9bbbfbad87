/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: stop the kernel in the middle of a page fault, which makes races in it
 *           easy to win
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[userfaultfd\]
 * Stops:    EPERM=seccomp
 * Because:  with this flag every user may have one, whatever the sysctl says
 */
#include "attacks/attack.h"

ATTACK(hold_a_userfaultfd)
{
	if (syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */) < 0)
		attack_stopped("userfaultfd");
	else
		attack_hold();
	return 0;
}
