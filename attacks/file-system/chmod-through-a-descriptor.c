/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to:     change the mode of a file of the workspace through a descriptor that
 *               can only read
 * Promise:      host-writes
 * Oracle:       files
 * Options:      --workspace {base}/ws
 * Stops:        EROFS=mount
 * Not promised: process=process-attributes
 */
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(chmod_through_a_descriptor)
{
	int fd = open("readme.txt", O_RDONLY | O_CLOEXEC);
	char path[64];

	if (fchmod(fd, 0600) < 0)
		attack_stopped("fchmod");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (chmod(path, 0640) < 0)
		attack_stopped(path);
	return 0;
}
