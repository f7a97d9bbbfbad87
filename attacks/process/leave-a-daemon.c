/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a process behind that no parent waits for: two forks and a new session
 * Promise:  nothing-remains
 * Control:  bare
 * Oracle:   remains
 * Stops:    end=namespace|supervisor
 * Because:  nothing is refused: init ends this process with the cell
 */
#include "attacks/attack.h"

ATTACK(leave_a_daemon)
{
	if (fork() > 0) {
		attack_stopped_by("end", "the end of the cell");
		return 0;
	}
	(void)setsid();
	if (fork() > 0)
		_exit(0);
	for (int fd = 0; fd < 3; fd++)
		(void)close(fd);
	(void)sleep(60);
	_exit(0);
}
