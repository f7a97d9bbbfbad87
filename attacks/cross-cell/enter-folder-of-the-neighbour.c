/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open a file in another cell's folder, through /proc/PID/cwd
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    unseen=namespace EACCES=landlock
 * Because:  "unseen" is what it says if /proc shows no process of that name
 */
#include "attacks/attack.h"

ATTACK(enter_folder_of_the_neighbour)
{
	const char *secret = attack_value("SECRET");
	const char *name = attack_value("NONCE");
	char path[96];
	pid_t pid;
	int fd;

	if (strcmp(role, "first") == 0) {
		fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0 || write(fd, secret, strlen(secret)) < 0)
			attack_stopped("write");
		attack_hold();
		return 0;
	}
	pid = attack_find_holder();
	(void)snprintf(path, sizeof(path), "/proc/%d/cwd/%s", pid, name);
	if (pid > 0)
		(void)attack_spill_file(path);
	return 0;
}
