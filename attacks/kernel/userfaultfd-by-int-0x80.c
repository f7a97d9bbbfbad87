/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: get a userfaultfd with a system call of another architecture
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[userfaultfd\]
 * Stops:    seccomp=seccomp
 */
#include "attacks/attack.h"

#define NR_USERFAULTFD 374

/* As an i386 program makes its calls. Pointers must fit into 32 bits. */
static long call(long nr, long a, long b)
{
	long r = -ENOSYS;

#if defined(__x86_64__)
	__asm__ volatile("int $0x80"
	                 : "=a"(r)
	                 : "a"(nr), "b"(a), "c"(b)
	                 : "memory", "r8", "r9", "r10", "r11");
#else
	(void)nr, (void)a, (void)b;
#endif
	errno = r < 0 ? (int)-r : 0;
	return r;
}

ATTACK(userfaultfd_by_int_0x80)
{
	if (call(NR_USERFAULTFD, 1 /* UFFD_USER_MODE_ONLY */, 0) < 0)
		attack_stopped("userfaultfd");
	else
		attack_hold();
	return 0;
}
