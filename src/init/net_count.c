/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "init/init.h"

#define LOOPBACK 1 /* the first link of every network namespace */

static bool is_besides_loopback(const struct nlmsghdr *h)
{
	const struct rtmsg *route = NLMSG_DATA(h);
	const struct rtattr *attr = RTM_RTA(route);
	size_t left = RTM_PAYLOAD(h);

	if (h->nlmsg_type == RTM_NEWLINK)
		return ((const struct ifinfomsg *)NLMSG_DATA(h))->ifi_index != LOOPBACK;
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if (attr->rta_type == RTA_OIF)
			return *(const uint32_t *)RTA_DATA(attr) != LOOPBACK;
	return true;
}

/* Netlink is ten times as fast as the files in /proc/self/net. */
int dw_net_count(uint16_t what)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg all; /* all zero: every family, every link */
		struct rtattr attr;
		uint32_t mask; /* skip the counters, which are slow */
	} request = {
		.h = {.nlmsg_len = what == RTM_GETLINK ? sizeof(request)
	                                               : offsetof(typeof(request), attr),
	              .nlmsg_type = what,
	              .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.attr = {.rta_len = RTA_LENGTH(sizeof(request.mask)),
	                 .rta_type = IFLA_EXT_MASK},
		.mask = RTEXT_FILTER_SKIP_STATS,
	};
	autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	static char answer[32768] __attribute__((aligned(8)));
	int count = 0;

	if (fd < 0 || send(fd, &request, request.h.nlmsg_len, 0) < 0)
		return -1;
	for (;;) {
		ssize_t n = recv(fd, answer, sizeof(answer), 0);
		struct nlmsghdr *h = (struct nlmsghdr *)answer;

		if (n <= 0)
			return -1;
		for (; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return count;
			if (h->nlmsg_type == NLMSG_ERROR)
				return -1;
			count += is_besides_loopback(h);
		}
	}
}
