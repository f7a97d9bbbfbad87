/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: hide a socket's protocol from the filter behind bits that the kernel does
 *           not look at
 * Promise:  kernel-surface
 * Oracle:   held fd MPTCP
 * Stops:    EPROTONOSUPPORT=seccomp
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(mptcp_with_high_bits)
{
	if (syscall(SYS_socket, AF_INET, SOCK_STREAM, 1UL << 32 | IPPROTO_MPTCP) < 0)
		attack_stopped("socket");
	else
		attack_hold();
	return 0;
}
