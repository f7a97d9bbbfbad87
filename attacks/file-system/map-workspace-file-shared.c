/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: change a file of the workspace through a shared mapping
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws
 * Stops:    EROFS=mount EACCES=landlock
 */
#include <sys/mman.h>

#include "attacks/attack.h"

ATTACK(map_workspace_file_shared)
{
	int fd = open("readme.txt", O_RDWR | O_CLOEXEC);
	char *map;

	if (fd < 0) {
		attack_stopped("open");
		return 0;
	}
	map = mmap(NULL, 6, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		attack_stopped("mmap");
	else
		map[0] ^= 1;
	return 0;
}
