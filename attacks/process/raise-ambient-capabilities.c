/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: raise a capability that every program it starts would have (ambient)
 * Promise:  privileges
 * Control:  root
 * Oracle:   held status ^CapAmb:.0*[1-9a-f]
 * Stops:    EPERM=capability
 */
#include <linux/capability.h>
#include <sys/prctl.h>

#include "attacks/attack.h"

ATTACK(raise_ambient_capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	(void)syscall(SYS_capget, &header, data);
	data[0].inheritable |= 1U << CAP_NET_RAW;
	(void)syscall(SYS_capset, &header, data);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) < 0)
		attack_stopped("prctl");
	else
		attack_hold();
	return 0;
}
