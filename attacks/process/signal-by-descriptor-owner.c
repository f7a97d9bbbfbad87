/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have the kernel send the signal, by making the process the owner of a
 *           socket that has news (F_SETOWN, F_SETSIG)
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace silence=landlock
 * Not promised: landlock6:process=process-old-landlock
 * Because:  the kernel does not report that it dropped the signal; the witness does
 */
#include <signal.h>
#include <sys/socket.h>

#include "attacks/attack.h"

ATTACK(signal_by_descriptor_owner)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
	    fcntl(pair[0], F_SETSIG, SIGUSR1) < 0 ||
	    fcntl(pair[0], F_SETOWN, (pid_t)attack_number("PID")) < 0 ||
	    fcntl(pair[0], F_SETFL, O_ASYNC) < 0 || write(pair[1], "x", 1) < 0)
		attack_stopped("fcntl");
	else
		attack_stopped_by("silence", "write");
	return 0;
}
