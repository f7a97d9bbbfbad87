/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: fork faster than the supervisor can end it: each process lives for some
 *           milliseconds only
 * Promise:  nothing-remains
 * Control:  bare
 * Oracle:   remains
 * Stops:    end=namespace|supervisor pids=limit:pids
 * Because:  nothing is refused: init ends this process with the cell
 */
#include <signal.h>
#include <time.h>

#include "attacks/attack.h"

ATTACK(outrun_the_end)
{
	const struct timespec step = {.tv_nsec = 20000000};

	(void)signal(SIGCHLD, SIG_IGN);
	if (fork() > 0) {
		attack_stopped_by("end", "the end of the cell");
		return 0;
	}
	for (int fd = 0; fd < 3; fd++)
		(void)close(fd);
	for (int i = 0; i < 3000; i++) {
		(void)setsid();
		if (fork() > 0)
			_exit(0);
		/* One process at a time: the limit on processes is not what stops this. */
		(void)nanosleep(&step, NULL);
	}
	_exit(0);
}
