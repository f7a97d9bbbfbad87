/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a packet whose header it wrote itself
 * Promise:  no-network
 * Control:  root
 * Oracle:   network
 * Stops:    EPERM=seccomp|capability
 */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(send_a_raw_packet)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_addr.s_addr = htonl(0x01010101)};
	struct iphdr packet = {.version = 4,
	                       .ihl = 5,
	                       .tot_len = htons(sizeof(packet)),
	                       .ttl = 64,
	                       .protocol = 253, /* for experiments */
	                       .saddr = htonl(0x08080808),
	                       .daddr = htonl(0x01010101)};
	int s = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);

	if (s < 0)
		attack_stopped("socket");
	else if (sendto(s, &packet, sizeof(packet), 0, (struct sockaddr *)&to,
	                sizeof(to)) < 0)
		attack_stopped("sendto");
	return 0;
}
