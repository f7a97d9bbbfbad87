/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open a socket that shares its memory with a network driver
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd XDP
 * Stops:    EAFNOSUPPORT=seccomp EPERM=capability
 */
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(open_an_xdp_socket)
{
	if (socket(AF_XDP, SOCK_RAW, 0) < 0)
		attack_stopped("socket");
	else
		attack_hold();
	return 0;
}
