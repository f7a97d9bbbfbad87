/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take the right to open files from the supervisor, so that it finds
 *           no process to end, and leave a process behind
 * Promise:  nothing-remains
 * Oracle:   remains
 * Stops:    EPERM=seccomp end=supervisor
 */
#include <sys/resource.h>

#include "attacks/attack.h"

ATTACK(leave_a_daemon_to_a_blind_supervisor)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};

	if (prlimit(getppid(), RLIMIT_NOFILE, &none, NULL) < 0) {
		attack_stopped("prlimit");
		return 0;
	}
	if (fork() > 0) {
		attack_stopped_by("end", "the end of the cell");
		return 0;
	}
	(void)setsid();
	for (int fd = 0; fd < 3; fd++)
		(void)close(fd);
	(void)sleep(60);
	_exit(0);
}
