/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: get a userfaultfd with a system call of another architecture
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[userfaultfd\]
 * Stops:    seccomp=seccomp
 */
#include "attacks/attack.h"

#define NR_USERFAULTFD 374

ATTACK(userfaultfd_by_int_0x80)
{
	if (attack_call_i386(NR_USERFAULTFD, 1 /* UFFD_USER_MODE_ONLY */, 0) < 0)
		attack_stopped("userfaultfd");
	else
		attack_hold();
	return 0;
}
