/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: let a process of the host run only when no other process wants to
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=capability
 * Not promised: process=process-same-user
 */
#include <sched.h>

#include "attacks/attack.h"

ATTACK(idle_the_witness)
{
	const struct sched_param none = {.sched_priority = 0};

	if (sched_setscheduler((pid_t)attack_number("PID"), SCHED_IDLE, &none) < 0)
		attack_stopped("sched_setscheduler");
	return 0;
}
