/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take capabilities that it was not given
 * Promise:  privileges
 * Control:  root
 * Oracle:   held status ^CapEff:.0*[1-9a-f]
 * Stops:    EPERM=capability
 */
#include <linux/capability.h>

#include "attacks/attack.h"

ATTACK(take_capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i] = (struct __user_cap_data_struct){
			.effective = 1U << CAP_SYS_ADMIN,
			.permitted = 1U << CAP_SYS_ADMIN,
		};
	data[1] = (struct __user_cap_data_struct){0};
	if (syscall(SYS_capset, &header, data) < 0)
		attack_stopped("capset");
	else
		attack_hold();
	return 0;
}
