/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: queue a signal with a value to a process of the host
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=landlock
 * Not promised: landlock6:process=process-old-landlock
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(queue_a_signal)
{
	const union sigval value = {.sival_int = 7};

	if (sigqueue((pid_t)attack_number("PID"), SIGRTMIN + 1, value) < 0)
		attack_stopped("rt_sigqueueinfo");
	return 0;
}
