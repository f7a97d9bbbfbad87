/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a frame past the whole stack
 * Promise:  no-network
 * Control:  root
 * Oracle:   network
 * Stops:    EAFNOSUPPORT=seccomp EPERM=capability
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(send_a_frame)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
	                         .sll_protocol = htons(ETH_P_LOOPBACK),
	                         .sll_ifindex = 1,
	                         .sll_halen = ETH_ALEN};
	int s = socket(AF_PACKET, SOCK_DGRAM, 0);

	if (s < 0)
		attack_stopped("socket");
	else if (sendto(s, "secret", 6, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		attack_stopped("sendto");
	return 0;
}
