/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open a nameless file of another cell's, through /proc/PID/fd
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    unseen=namespace EACCES=landlock
 * Because:  "unseen" is what it says if /proc shows no process of that name
 */
#include <sys/mman.h>

#include "attacks/attack.h"

#define AGREED_FD 7

ATTACK(open_file_of_the_neighbour)
{
	const char *secret = attack_value("SECRET");
	char path[96];
	pid_t pid;
	int fd;

	if (strcmp(role, "first") == 0) {
		fd = memfd_create("mine", 0);
		if (fd < 0 || write(fd, secret, strlen(secret)) < 0 ||
		    dup2(fd, AGREED_FD) < 0)
			attack_stopped("memfd_create");
		attack_hold();
		return 0;
	}
	pid = attack_find_holder();
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, AGREED_FD);
	if (pid > 0)
		(void)attack_spill_file(path);
	return 0;
}
