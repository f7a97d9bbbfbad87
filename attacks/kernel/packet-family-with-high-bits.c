/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: hide a socket's family from the filter behind bits that the kernel does
 *           not look at
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd PACKET
 * Stops:    EAFNOSUPPORT=seccomp EPERM=capability
 * Because:  CVE-2019-10063 was of this kind
 */
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(packet_family_with_high_bits)
{
	if (syscall(SYS_socket, 1UL << 32 | AF_PACKET, SOCK_RAW, 0) < 0)
		attack_stopped("socket");
	else
		attack_hold();
	return 0;
}
