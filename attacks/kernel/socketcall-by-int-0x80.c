/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open a socket of multipath TCP with i386's socketcall, whose arguments
 *           lie in memory, where no filter sees them
 * Promise:  kernel-surface
 * Oracle:   held fd MPTCP
 * Stops:    seccomp=seccomp
 */
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "attacks/attack.h"

#ifndef MAP_32BIT
#define MAP_32BIT 0 /* there is no such mode on this machine */
#endif

#define NR_SOCKETCALL 102

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

ATTACK(socketcall_by_int_0x80)
{
	uint32_t *args = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	args[0] = AF_INET;
	args[1] = SOCK_STREAM;
	args[2] = IPPROTO_MPTCP;
	if (call(NR_SOCKETCALL, 1 /* SYS_SOCKET */, (long)(uintptr_t)args) < 0)
		attack_stopped("socketcall");
	else
		attack_hold();
	return 0;
}
