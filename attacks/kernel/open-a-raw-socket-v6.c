/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open a raw IPv6 socket
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd RAWv6
 * Stops:    EPERM=seccomp|capability
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(open_a_raw_socket_v6)
{
	if (socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6) < 0)
		attack_stopped("socket");
	else
		attack_hold();
	return 0;
}
