/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a signal to one thread of a process of the host (tgkill)
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=landlock
 * Not promised: landlock6:process=process-old-landlock
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(signal_a_thread_of_the_witness)
{
	long pid = attack_number("PID");

	if (syscall(SYS_tgkill, pid, pid, SIGUSR1) < 0)
		attack_stopped("tgkill");
	return 0;
}
