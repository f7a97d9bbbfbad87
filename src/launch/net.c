/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "launch/launch_own.h"

/* The usual indices are 1 for lo and 2 for pasta's interface. */
#define INTERFACES_MAX 64

/*
 * Stage 6: the network.
 *
 * On entry:  an empty network namespace, all interfaces down.
 * Leaves:    127.0.0.1 and ::1 work, among the cell's own processes; nothing
 *            leads anywhere else.
 */
int dw_net_loopback_up(struct dw_error *err)
{
	struct ifreq ifr = {.ifr_flags = IFF_UP | IFF_RUNNING};
	autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(ifr.ifr_name, "lo", 3);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot bring up the cell's loopback");
	return 0;
}

/*
 * Stage 6, before pasta creates an interface: switch off duplicate address detection.
 * Its probes come from the address ::, which pasta (Debian 12's) takes for the cell's
 * address; pasta then sends IPv6 answers to ::, and they are lost. There is no other host
 * on this link. If /proc/sys cannot be written, detection stays on.
 */
void dw_net_disable_dad(void)
{
	autoclose int fd = open("/proc/sys/net/ipv6/conf/default/accept_dad",
	                        O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "0", 1);
}

/* A netlink request that adds a route. */
struct route_request {
	struct nlmsghdr h;
	struct rtmsg r;
	struct rtattr dst_attr;
	unsigned char dst[16];
	struct rtattr oif_attr;
	uint32_t oif;
};

/*
 * Add "local ADDRESS/BITS dev INDEX" to the table of local addresses, behind
 * the route that leads to lo.
 */
static int add_local(int fd, unsigned char family, unsigned char first,
                     unsigned char last, unsigned char bits, uint32_t index)
{
	struct route_request req = {
		.h = {.nlmsg_type = RTM_NEWROUTE,
	              .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE |
	                             NLM_F_APPEND},
		.r = {.rtm_family = family,
	              .rtm_dst_len = bits,
	              .rtm_table = RT_TABLE_LOCAL,
	              .rtm_protocol = RTPROT_STATIC,
	              .rtm_scope = RT_SCOPE_HOST,
	              .rtm_type = RTN_LOCAL},
		.dst_attr = {.rta_type = RTA_DST},
	};
	size_t len = family == AF_INET ? 4 : 16;
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char more[256];
	} answer;
	struct rtattr *oif = (struct rtattr *)(req.dst + len);

	req.dst_attr.rta_len = (unsigned short)RTA_LENGTH(len);
	req.dst[0] = first;
	req.dst[len - 1] = last;
	oif->rta_type = RTA_OIF;
	oif->rta_len = (unsigned short)RTA_LENGTH(sizeof(index));
	memcpy(RTA_DATA(oif), &index, sizeof(index));
	req.h.nlmsg_len = (uint32_t)(offsetof(struct route_request, dst) + len +
	                             RTA_LENGTH(sizeof(index)));

	if (send(fd, &req, req.h.nlmsg_len, 0) < 0)
		return -errno;
	if (recv(fd, &answer, sizeof(answer), 0) <
	            (ssize_t)(sizeof(answer.h) + sizeof(answer.e.error)) ||
	    answer.h.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return answer.e.error;
}

/*
 * Stage 6, once pasta's interface exists: keep packets to loopback addresses inside.
 *
 * A program may bind a socket to an interface (SO_BINDTODEVICE, IP_PKTINFO). A packet
 * that it then sends to 127.0.0.1 does not find the route over lo and leaves the cell,
 * and pasta would deliver it to the host's loopback. If the loopback addresses are local
 * on that interface too, the packet stays inside. Unreachable routes would not suffice:
 * on a socket bound to an interface, IPv4 takes an address without a route for that of a
 * neighbour.
 */
int dw_net_keep_loopback_inside(struct dw_error *err)
{
	autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	autoclose int v4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	autoclose int v6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int found = 0, r = 0;

	if (fd < 0 || v4 < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot open a socket for routes");
	for (int index = 1; index <= INTERFACES_MAX && r == 0; index++) {
		struct ifreq ifr = {.ifr_ifindex = index};

		if (ioctl(v4, SIOCGIFNAME, &ifr) < 0 || strcmp(ifr.ifr_name, "lo") == 0)
			continue;
		found++;
		r = add_local(fd, AF_INET, 127, 0, 8, (uint32_t)index);
		if (r == 0 && v6 >= 0)
			r = add_local(fd, AF_INET6, 0, 1, 128, (uint32_t)index);
	}
	if (r == 0 && found == 0)
		r = -ENODEV;
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot keep loopback addresses in the cell");
	return 0;
}
