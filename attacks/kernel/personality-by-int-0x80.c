/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: switch address randomization off with a system call of another architecture
 * Promise:  kernel-surface
 * Oracle:   held personality ^0?00[4-7c-f]0000
 * Stops:    seccomp=seccomp
 */
#include <sys/personality.h>

#include "attacks/attack.h"

#define NR_PERSONALITY 136

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

ATTACK(personality_by_int_0x80)
{
	if (call(NR_PERSONALITY, ADDR_NO_RANDOMIZE, 0) < 0)
		attack_stopped("personality");
	else
		attack_hold();
	return 0;
}
