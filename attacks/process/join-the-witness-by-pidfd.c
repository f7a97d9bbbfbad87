/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: enter all namespaces of a process of the host at once, by its descriptor
 * Promise:  host-processes
 * Control:  root
 * Oracle:   secret
 * Stops:    ESRCH=namespace EPERM=seccomp
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(join_the_witness_by_pidfd)
{
	long fd = syscall(SYS_pidfd_open, attack_number("PID"), 0);

	if (fd < 0)
		attack_stopped("pidfd_open");
	else if (setns((int)fd, CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWNET) < 0)
		attack_stopped("setns");
	else
		(void)attack_spill_file(attack_value("FLAG"));
	return 0;
}
