/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "launch/launch.h"

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
		return dw_fail(err, DW_E_INTERNAL, errno, "bring up the cell's loopback");
	return 0;
}
