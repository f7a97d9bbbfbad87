/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: reach the internet by multipath TCP
 * Promise:  no-network
 * Oracle:   network
 * Stops:    EPROTONOSUPPORT=seccomp
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(connect_by_mptcp)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_port = htons(80),
	                         .sin_addr.s_addr = htonl(0x01010101)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_MPTCP);

	if (s < 0)
		attack_stopped("socket");
	else if (connect(s, (struct sockaddr *)&to, sizeof(to)) < 0)
		attack_stopped("connect");
	return 0;
}
