/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: rename the host
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   witness
 * Stops:    EPERM=seccomp|capability
 */
#include "attacks/attack.h"

ATTACK(set_the_host_name)
{
	const char *name = attack_value("NONCE");

	if (sethostname(name, strlen(name)) < 0)
		attack_stopped("sethostname");
	return 0;
}
