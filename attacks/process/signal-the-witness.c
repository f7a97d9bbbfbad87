/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a signal to a process of the host
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=landlock
 * Not promised: landlock6:process=process-old-landlock
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(signal_the_witness)
{
	if (kill((pid_t)attack_number("PID"), SIGUSR1) < 0)
		attack_stopped("kill");
	return 0;
}
