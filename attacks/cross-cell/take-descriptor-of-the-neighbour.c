/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: copy an open file out of another cell's process with pidfd_getfd
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    unseen=namespace EPERM=seccomp
 * Because:  "unseen" is what it says if /proc shows no process of that name
 */
#include <sys/mman.h>
#include <sys/prctl.h>

#include "attacks/attack.h"

#define AGREED_FD 7

ATTACK(take_descriptor_of_the_neighbour)
{
	const char *secret = attack_value("SECRET");
	int fd, pidfd;
	pid_t pid;

	if (strcmp(role, "first") == 0) {
		fd = memfd_create("mine", 0);
		if (fd < 0 || write(fd, secret, strlen(secret)) < 0 ||
		    lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, AGREED_FD) < 0)
			attack_stopped("memfd_create");
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		attack_hold();
		return 0;
	}
	pid = attack_find_holder();
	if (pid <= 0)
		return 0;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, AGREED_FD, 0);
	if (fd < 0)
		attack_stopped("pidfd_getfd");
	else
		attack_spill(fd);
	return 0;
}
