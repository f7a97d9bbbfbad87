/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: queue a signal to a thread of the host, in the name of a message queue
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=landlock
 * Not promised: landlock6:process=process-old-landlock
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(queue_a_signal_to_a_thread)
{
	long pid = attack_number("PID");
	siginfo_t info = {.si_signo = SIGUSR2, .si_code = SI_MESGQ};

	if (syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGUSR2, &info) < 0)
		attack_stopped("rt_tgsigqueueinfo");
	return 0;
}
