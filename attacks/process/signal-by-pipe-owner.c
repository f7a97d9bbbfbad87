/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have the kernel send the signal to a thread that owns a pipe (F_SETOWN_EX)
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace silence=landlock
 * Not promised: landlock6:process=process-old-landlock
 * Because:  the kernel does not report that it dropped the signal; the witness does
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(signal_by_pipe_owner)
{
	struct f_owner_ex owner = {
		.type = F_OWNER_TID,
		.pid = (pid_t)attack_number("PID"),
	};
	int ends[2];

	if (pipe(ends) < 0 || fcntl(ends[0], F_SETSIG, SIGUSR2) < 0 ||
	    fcntl(ends[0], F_SETOWN_EX, &owner) < 0 ||
	    fcntl(ends[0], F_SETFL, O_ASYNC) < 0 || write(ends[1], "x", 1) < 0)
		attack_stopped("fcntl");
	else
		attack_stopped_by("silence", "write");
	return 0;
}
