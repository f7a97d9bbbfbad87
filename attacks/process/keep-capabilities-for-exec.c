/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: mark capabilities to be handed on to the next program (inheritable)
 * Promise:  privileges
 * Control:  root
 * Oracle:   held status ^CapInh:.0*[1-9a-f]
 * Stops:    EPERM=capability
 */
#include <linux/capability.h>

#include "attacks/attack.h"

ATTACK(keep_capabilities_for_exec)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	(void)syscall(SYS_capget, &header, data);
	data[0].inheritable |= 1U << CAP_NET_RAW;
	if (syscall(SYS_capset, &header, data) < 0)
		attack_stopped("capset");
	else
		attack_hold();
	return 0;
}
