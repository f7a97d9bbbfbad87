/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: let a process of the host use the disk only when no other process does
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=capability
 * Not promised: process=process-same-user
 */
#include <linux/ioprio.h>

#include "attacks/attack.h"

ATTACK(starve_the_witness_of_disk)
{
	if (syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, attack_number("PID"),
	            IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)) < 0)
		attack_stopped("ioprio_set");
	return 0;
}
