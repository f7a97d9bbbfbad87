/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: get a packet socket as programs of 1996 did, by AF_INET and SOCK_PACKET
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd PACKET
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(packet_socket_by_its_old_name)
{
	if (socket(AF_INET, SOCK_PACKET, 0x0300) < 0)
		attack_stopped("socket");
	else
		attack_hold();
	return 0;
}
