/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a signal to a thread of the host, whatever process it is part of
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=landlock
 * Not promised: landlock6:process=process-old-landlock
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(signal_by_tkill)
{
	if (syscall(SYS_tkill, attack_number("PID"), SIGUSR1) < 0)
		attack_stopped("tkill");
	return 0;
}
