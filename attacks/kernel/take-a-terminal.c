/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a terminal, and be the one that it controls
 * Promise:  kernel-surface
 * Oracle:   held stat [(]dw-hold[)] [A-Z] [0-9]+ [0-9]+ [0-9]+ [1-9]
 * Stops:    ENOENT=mount EACCES=landlock EPERM=seccomp
 */
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "attacks/attack.h"

ATTACK(take_a_terminal)
{
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY), off = 0;
	pid_t pid = fd < 0 ? 0 : fork();

	if (fd < 0) {
		attack_stopped("open /dev/ptmx");
		if (ioctl(0, TIOCSCTTY, 0) < 0)
			attack_stopped("ioctl TIOCSCTTY");
		return 0;
	}
	if (pid > 0) {
		(void)waitpid(pid, NULL, 0);
		return 0;
	}
	(void)setsid();
	(void)ioctl(fd, TIOCSPTLCK, &off);
	fd = ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0)
		attack_stopped("ioctl TIOCSCTTY");
	else
		attack_hold();
	return 0;
}
