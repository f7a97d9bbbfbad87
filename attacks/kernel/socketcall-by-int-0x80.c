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
#define MAP_32BIT 0 /* this machine has no such flag */
#endif

#define NR_SOCKETCALL 102

ATTACK(socketcall_by_int_0x80)
{
	uint32_t *args = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	args[0] = AF_INET;
	args[1] = SOCK_STREAM;
	args[2] = IPPROTO_MPTCP;
	if (attack_call_i386(NR_SOCKETCALL, 1 /* SYS_SOCKET */, (long)(uintptr_t)args) <
	    0)
		attack_stopped("socketcall");
	else
		attack_hold();
	return 0;
}
