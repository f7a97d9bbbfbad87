/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: enter the network of a process of the host
 * Promise:  no-network
 * Control:  root
 * Oracle:   network
 * Stops:    ENOENT=namespace EACCES=landlock EPERM=seccomp
 */
#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(enter_the_witness_network)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_port = htons(53),
	                         .sin_addr.s_addr = htonl(0x01010101)};
	char path[64];
	int fd, s;

	(void)snprintf(path, sizeof(path), "/proc/%s/ns/net", attack_value("PID"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		attack_stopped("open");
	if (setns(fd, CLONE_NEWNET) < 0) {
		attack_stopped("setns");
		return 0;
	}
	s = socket(AF_INET, SOCK_DGRAM, 0);
	if (sendto(s, "hello", 5, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		attack_stopped("sendto");
	return 0;
}
