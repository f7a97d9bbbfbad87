/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: climb 64 folders up, and read a file of the host from there
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(climb_dot_dot)
{
	const char *flag = attack_value("FLAG");
	int fd;

	for (int i = 0; i < 64; i++)
		if (chdir("..") < 0)
			attack_stopped("chdir");
	fd = open(flag + 1, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		attack_stopped("open");
	else
		attack_spill(fd);
	return 0;
}
