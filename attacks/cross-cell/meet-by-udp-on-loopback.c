/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: ask another cell for its secret by UDP over IPv6's loopback address
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    ECONNREFUSED=namespace EADDRNOTAVAIL=namespace
 * Not promised: process=process-network
 * Because:  each cell has a loopback of its own, which answers for itself that
 *           no socket has this port; the control shows that one does elsewhere
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "attacks/attack.h"

ATTACK(meet_by_udp_on_loopback)
{
	unsigned long number = strtoul(attack_value("NONCE"), NULL, 16);
	struct sockaddr_in6 here = {.sin6_family = AF_INET6,
	                            .sin6_addr = IN6ADDR_LOOPBACK_INIT,
	                            .sin6_port = htons(
					    (uint16_t)(20000 + number % 10000))};
	const struct timeval patience = {.tv_sec = 2};
	const char *secret = attack_value("SECRET");
	struct sockaddr_in6 who;
	socklen_t len = sizeof(who);
	char text[64];
	ssize_t n;
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (strcmp(role, "first") == 0) {
		if (bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0)
			attack_stopped("bind");
		attack_ready();
		if (recvfrom(fd, text, sizeof(text), 0, (struct sockaddr *)&who, &len) >
		    0)
			(void)sendto(fd, secret, strlen(secret), 0,
			             (struct sockaddr *)&who, len);
		attack_hold();
		return 0;
	}
	if (connect(fd, (struct sockaddr *)&here, sizeof(here)) < 0 ||
	    send(fd, "?", 1, 0) < 0 || (n = recv(fd, text, sizeof(text), 0)) < 0)
		attack_stopped("recv");
	else
		(void)printf("%.*s\n", (int)n, text);
	return 0;
}
