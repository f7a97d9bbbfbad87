/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a signal through a descriptor of the process
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=landlock
 * Not promised: landlock6:process=process-old-landlock
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(signal_by_pidfd)
{
	long fd = syscall(SYS_pidfd_open, attack_number("PID"), 0);

	if (fd < 0)
		attack_stopped("pidfd_open");
	else if (syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0) < 0)
		attack_stopped("pidfd_send_signal");
	return 0;
}
