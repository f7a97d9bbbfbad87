/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: enter a folder of the host, and open what is in it by its short name
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(enter_a_folder_and_look_around)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/deep/a/b/c", attack_value("BASE"));
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fchdir(fd) < 0)
		attack_stopped("fchdir");
	else
		(void)attack_spill_file("flag");
	return 0;
}
