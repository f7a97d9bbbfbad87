/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make an io_uring with a system call of another architecture, whose numbers
 *           mean other calls
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[io_uring\]
 * Stops:    seccomp=seccomp
 * Because:  it ends with the first such call
 */
#include <sys/mman.h>

#include "attacks/attack.h"

#ifndef MAP_32BIT
#define MAP_32BIT 0 /* this machine has no such flag */
#endif

#define NR_IO_URING_SETUP 425

ATTACK(io_uring_by_int_0x80)
{
	void *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (attack_call_i386(NR_IO_URING_SETUP, 4, (long)(uintptr_t)low) < 0)
		attack_stopped("io_uring_setup");
	else
		attack_hold();
	return 0;
}
