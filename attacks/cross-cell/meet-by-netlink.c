/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send another cell a secret over NETLINK_USERSOCK, which is there for
 *           messages between programs
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    EPERM=seccomp
 */
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(meet_by_netlink)
{
	struct sockaddr_nl there = {
		.nl_family = AF_NETLINK,
		.nl_pid = (uint32_t)strtoul(attack_value("NONCE"), NULL, 16) | 0x40000000,
	};
	const char *secret = attack_value("SECRET");
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	if (fd < 0) {
		attack_stopped("socket");
	} else if (strcmp(role, "second") == 0) {
		if (sendto(fd, secret, strlen(secret), 0, (struct sockaddr *)&there,
		           sizeof(there)) < 0)
			attack_stopped("sendto");
		else
			attack_pause(500);
	} else {
		if (bind(fd, (struct sockaddr *)&there, sizeof(there)) < 0)
			attack_stopped("bind");
		attack_ready();
		if (poll(&wait, 1, 3000) == 1)
			attack_spill(fd);
		attack_hold();
	}
	return 0;
}
