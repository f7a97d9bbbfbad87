/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: lower the limits of a process of the host
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    EPERM=seccomp|capability ESRCH=namespace
 */
#include <sys/resource.h>

#include "attacks/attack.h"

ATTACK(limit_the_witness)
{
	const struct rlimit few = {.rlim_cur = 8, .rlim_max = 8};

	if (prlimit((pid_t)attack_number("PID"), RLIMIT_NOFILE, &few, NULL) < 0)
		attack_stopped("prlimit");
	return 0;
}
